/**
 * The three-way diff of what the hub wants, what it has booked, and what the agent says it holds, after revisions or
 * digests could not be trusted (03 rule 8). It destroys nothing and overwrites nothing that is newer than the hub: an
 * object ahead of the hub (a hub restored to yesterday) is held for a person to decide.
 */
import { type DeliveryState, MAX_GENERATION } from '#domain';
import type { InventoryChunk } from '#protocol';
import type { Applied } from './outcome.rules.ts';

export interface WantedRow {
  readonly hubUid: string;
  readonly hubGeneration: number;
  readonly specHash: string;
  readonly deletion: 'DELETE' | 'ORPHAN' | null;
  readonly createAllowed: boolean;
  readonly state: DeliveryState;
}

export type InventoryVerdict = { readonly applied: Applied | null } & (
  | { readonly kind: 'IN_SYNC' | 'BEHIND' | 'TO_CREATE' | 'TO_DELETE' | 'DELETED_LOCALLY' }
  /** The hub goes on from this generation, without sending until a person has saved. */
  | { readonly kind: 'AHEAD'; readonly generation: number }
);

type Held = InventoryChunk['objects'][number];

export function compareObject(wanted: WantedRow, held: Held | undefined): InventoryVerdict {
  if (!held) {
    if (wanted.deletion) return { kind: 'TO_DELETE', applied: null };
    return { kind: wanted.createAllowed ? 'TO_CREATE' : 'DELETED_LOCALLY', applied: null };
  }
  const applied = held.unclaimed ? null : { generation: held.hubGeneration, hash: held.specHash };
  if (wanted.deletion) return { kind: 'TO_DELETE', applied };
  if (held.hubGeneration < wanted.hubGeneration) return { kind: 'BEHIND', applied };
  if (held.hubGeneration === wanted.hubGeneration && held.specHash === wanted.specHash) {
    return { kind: 'IN_SYNC', applied };
  }
  return { kind: 'AHEAD', applied, generation: generationToGoOnFrom(wanted, held) };
}

/** Half of what is left for a hub is left to be counted on from there, whatever an agent says. */
const generationToGoOnFrom = (wanted: WantedRow, held: Held): number =>
  Math.max(wanted.hubGeneration, Math.min(held.hubGeneration, MAX_GENERATION / 2));

/** Objects that carry a hubUid this hub does not want: shown for adoption or deletion, never touched. */
export function findUnknown(wanted: readonly WantedRow[], held: readonly Held[]): readonly Held[] {
  const known = new Set(wanted.map((row) => row.hubUid));
  return held.filter((object) => !known.has(object.hubUid));
}
