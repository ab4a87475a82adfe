/**
 * The custom resources of one simulated member cluster: which version of each was applied, and what state it is in. What
 * is derived from that (digest of the specs, digest of the status, items) is counted along, as the real agent does.
 */
import {
  addToDigest,
  digestOf,
  removeFromDigest,
  type InventoryChunk,
  type ObjectOutcome,
  type StatusItem,
  type Tombstone,
  type Upsert,
} from '#protocol';
import {
  CLUSTERS_PER_AGENT,
  firstStatus,
  frozenSpecOfSlot,
  itemHashOf,
  kubeUidOf,
  numberOf,
  objectOf,
  statusItemOf,
  type StatusState,
} from '../fleet-model.ts';

interface Held {
  readonly hubUid: string;
  readonly specHash: string;
  readonly status: StatusState;
}

const MODULUS = 1n << 128n;
const termOf = (held: Held): bigint => BigInt(`0x${itemHashOf(held.hubUid, held.status)}`);

export class SimulatedObjects {
  readonly #agent: number;
  readonly #held = new Map<number, Held>();
  #specDigest: string;
  #statusSum = 0n;

  constructor(agent: number) {
    this.#agent = agent;
    for (let slot = 0; slot < CLUSTERS_PER_AGENT; slot += 1) {
      const { n, hubUid } = objectOf(agent, slot);
      const held = { hubUid, specHash: frozenSpecOfSlot(slot).hash, status: firstStatus(n) };
      this.#held.set(slot, held);
      this.#statusSum = (this.#statusSum + termOf(held)) % MODULUS;
    }
    this.#specDigest = digestOf([...this.#held.values()].map(versionOf));
  }

  get specDigest(): string {
    return this.#specDigest;
  }

  get statusDigest(): string {
    return this.#statusSum.toString(16).padStart(32, '0');
  }

  has(slot: number): boolean {
    return this.#held.has(slot);
  }

  statusItem(slot: number): StatusItem {
    const held = this.#held.get(slot);
    if (held === undefined) throw new Error(`agent ${this.#agent} has no object in slot ${slot}`);
    return statusItemOf(this.#agent, slot, held.status);
  }

  /** Something happens to it in its member cluster. False when it is not there. */
  disturb(slot: number, isPhase: boolean): boolean {
    const held = this.#held.get(slot);
    if (held === undefined) return false;
    const { status } = held;
    const degraded = isPhase ? !status.degraded : status.degraded;
    this.#put(slot, { ...held, status: { ...status, changes: status.changes + 1, degraded } });
    return true;
  }

  /** As the real agent's decision for an object of its own that nobody edited. */
  apply({ hubUid, hubGeneration, specHash }: Upsert): ObjectOutcome {
    const slot = this.slotOf(hubUid);
    const held = this.#held.get(slot);
    if (held === undefined || hubGeneration > held.status.hubGeneration) {
      const status = held?.status ?? firstStatus(numberOf(hubUid));
      this.#put(slot, { hubUid, specHash, status: { ...status, hubGeneration } });
    }
    const now = this.#held.get(slot);
    const uid = kubeUidOf(hubUid);
    return { hubUid, hubGeneration: now?.status.hubGeneration ?? hubGeneration, state: 'APPLIED', specHash, uid };
  }

  remove({ hubUid, operation }: Tombstone): ObjectOutcome {
    const slot = this.slotOf(hubUid);
    const held = this.#held.get(slot);
    if (held !== undefined) {
      this.#specDigest = removeFromDigest(this.#specDigest, versionOf(held));
      this.#statusSum = (this.#statusSum + MODULUS - termOf(held)) % MODULUS;
      this.#held.delete(slot);
    }
    const state = operation === 'DELETE' ? 'DELETED' : 'ORPHANED';
    return { hubUid, hubGeneration: held?.status.hubGeneration ?? 0, state };
  }

  inventory(): InventoryChunk {
    const objects = [...this.#held].map(([slot, held]) => {
      const { namespace, name } = objectOf(this.#agent, slot);
      return { ...versionOf(held), namespace, name, unclaimed: false };
    });
    return { objects, last: true };
  }

  slotOf(hubUid: string): number {
    return numberOf(hubUid) - this.#agent * CLUSTERS_PER_AGENT;
  }

  #put(slot: number, next: Held): void {
    const held = this.#held.get(slot);
    if (held !== undefined) {
      this.#specDigest = removeFromDigest(this.#specDigest, versionOf(held));
      this.#statusSum = (this.#statusSum + MODULUS - termOf(held)) % MODULUS;
    }
    this.#held.set(slot, next);
    this.#specDigest = addToDigest(this.#specDigest, versionOf(next));
    this.#statusSum = (this.#statusSum + termOf(next)) % MODULUS;
  }
}

const versionOf = ({
  hubUid,
  specHash,
  status,
}: Held): { readonly hubUid: string; readonly hubGeneration: number; readonly specHash: string } => ({
  hubUid,
  hubGeneration: status.hubGeneration,
  specHash,
});
