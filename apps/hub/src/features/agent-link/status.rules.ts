/**
 * Sorts what agents report: an item of an object that this hub wants from this agent is its status, every other is a
 * local object (hand-made or UNCLAIMED). Within one commit the last word about an object wins; rows go out sorted, so
 * that two replicas never lock them in opposite orders.
 */
import { statusHash, type StatusItem } from '#protocol';

import { isUuid } from './handshake.service.ts';
import type { StatusEntry } from './status-ingest.ts';

export interface KnownResource {
  readonly hubUid: string;
  readonly agentId: string;
  readonly projectId: string;
  readonly deletion: 'DELETE' | 'ORPHAN' | null;
  readonly deliveryState: string;
  /** Of the stored status; null when there is none. */
  readonly statusHash: string | null;
  readonly received: boolean;
}

export interface ReportedItem {
  readonly item: StatusItem;
  readonly agentId: string;
  readonly sessionNo: number;
  readonly counter: number;
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
      const reported = { item, agentId, sessionNo, counter: batch.counter, hash: statusHash(item) };
      const resource = item.hubUid === undefined ? undefined : known.get(item.hubUid);
      if (resource?.agentId === agentId) managed.set(resource.hubUid, { ...reported, known: resource });
      else local.set(localKey(reported), reported);
    }
  }
  return { managed: sortByKey(managed), local: sortByKey(local) };
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

/** Objects that vanished though the hub wants them, and objects that are there again. */
export const findLocallyDeleted = (managed: readonly ManagedItem[]): readonly ManagedItem[] =>
  managed.filter(
    ({ item, known }) => item.gone && known.deletion === null && known.deliveryState !== 'DELETED_LOCALLY',
  );

export const findReturned = (managed: readonly ManagedItem[]): readonly ManagedItem[] =>
  managed.filter(({ item, known }) => !item.gone && !item.terminating && known.deliveryState === 'DELETED_LOCALLY');
