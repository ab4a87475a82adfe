/**
 * Sorts what agents report: an item of an object that this hub wants from this agent, under the name that it wants, is its
 * status; every other is a local object (hand-made, UNCLAIMED, or a copy that carries another object's hubUid). Within one
 * commit the last word about an object wins; rows go out sorted, so that two replicas never lock them in opposite orders.
 */
import { statusHash, type StatusItem } from '#protocol';

import { isUuid } from '../sessions/handshake.service.ts';
import type { StatusEntry } from './status-entry.ts';

export interface KnownResource {
  readonly hubUid: string;
  readonly agentId: string;
  readonly projectId: string;
  readonly namespace: string;
  readonly name: string;
  readonly deletion: 'DELETE' | 'ORPHAN' | null;
  readonly deliveryState: string;
  /** Of the stored status; null when there is none. */
  readonly statusHash: string | null;
  /** The key that it is counted under; null before the first time. */
  readonly mode: string | null;
  readonly version: string | null;
  readonly phase: string | null;
}

export interface ReportedItem {
  readonly item: StatusItem;
  readonly agentId: string;
  readonly sessionNo: number;
  readonly counter: number;
  /** Differs when anything told differs: the agent's own, else ours over the states. */
  readonly hash: string;
}
export type ManagedItem = ReportedItem & { readonly known: KnownResource };

export interface SortedStatus {
  readonly managed: readonly ManagedItem[];
  readonly local: readonly ReportedItem[];
}

/** Every hubUid named, for the look-up. */
export const namedHubUids = (entries: readonly StatusEntry[]): readonly string[] => [
  ...new Set(
    entries.flatMap(({ batch }) =>
      batch.items.flatMap((item) => (item.hubUid && isUuid(item.hubUid) ? [item.hubUid] : [])),
    ),
  ),
];

export function sortStatus(entries: readonly StatusEntry[], known: ReadonlyMap<string, KnownResource>): SortedStatus {
  const managed = new Map<string, ManagedItem>();
  const local = new Map<string, ReportedItem>();
  for (const { session, batch } of entries) {
    for (const item of batch.items) {
      // Gone counts only when the agent can see its API server (03 rule 10).
      if (item.gone && batch.inventory === 'UNKNOWN') continue;
      const { agentId, sessionNo } = session;
      const hash = item.hash ?? statusHash(item);
      const reported = { item, agentId, sessionNo, counter: batch.counter, hash };
      const resource = item.hubUid === undefined ? undefined : known.get(item.hubUid);
      if (resource && isOf(resource, reported)) keepNewest(managed, resource.hubUid, { ...reported, known: resource });
      else keepNewest(local, localKey(reported), reported);
    }
  }
  return { managed: sortByKey(managed), local: sortByKey(local) };
}

/** The name decides between an object and a copy of its YAML under another name, which carries the hubUid as well. */
const isOf = (resource: KnownResource, { agentId, item }: ReportedItem): boolean =>
  resource.agentId === agentId && resource.namespace === item.namespace && resource.name === item.name;

function keepNewest<T extends ReportedItem>(items: Map<string, T>, key: string, item: T): void {
  const before = items.get(key);
  if (before === undefined || before.counter <= item.counter) items.set(key, item);
}

const localKey = ({ agentId, item }: ReportedItem): string => `${agentId} ${item.kind} ${item.namespace} ${item.name}`;

const sortByKey = <T>(map: ReadonlyMap<string, T>): readonly T[] =>
  [...map.entries()].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, value]) => value);

/** The key that a resource is counted under. Words that the agent does not know yet are counted as such. */
export const rollupKey = (item: StatusItem): { mode: string; version: string; phase: string } => ({
  mode: item.mode ?? 'Unknown',
  version: item.engineVersion ?? 'Unknown',
  phase: item.phase ?? 'Pending',
});

export function isCountedElsewhere({ item, known }: ManagedItem): boolean {
  const { mode, version, phase } = rollupKey(item);
  return known.mode !== mode || known.version !== version || known.phase !== phase;
}

/** Objects that vanished though the hub wants them, and objects that are there again. */
export const findLocallyDeleted = (managed: readonly ManagedItem[]): readonly ManagedItem[] =>
  managed.filter(
    ({ item, known }) => item.gone && known.deletion === null && known.deliveryState !== 'DELETED_LOCALLY',
  );

export const findReturned = (managed: readonly ManagedItem[]): readonly ManagedItem[] =>
  managed.filter(({ item, known }) => !item.gone && !item.terminating && known.deliveryState === 'DELETED_LOCALLY');
