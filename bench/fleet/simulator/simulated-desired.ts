/** What the hub wants of one agent: applied as it comes, acknowledged, and counted in the revision that a Hello tells. */
import type { DesiredAck, HubMessage, ObjectOutcome, Upsert } from '#protocol';
import type { SimulatedObjects } from './simulated-objects.ts';

export interface DesiredParts {
  readonly objects: SimulatedObjects;
  /** Revision applied in an earlier session. */
  readonly revision: number;
  readonly sendAck: (ack: DesiredAck, nonce: string) => void;
  /** The ack of this version is on its way. */
  readonly onApplied: (hubUid: string, hubGeneration: number) => void;
  /** Its custom resource was written, so that its status will be another. */
  readonly onWritten: (slot: number) => void;
}

export class SimulatedDesired {
  readonly #parts: DesiredParts;
  #revision: number;
  #snapshot: Upsert[] = [];

  constructor(parts: DesiredParts) {
    this.#parts = parts;
    this.#revision = parts.revision;
  }

  get revision(): number {
    return this.#revision;
  }

  /** False for a message that is about something else. */
  take({ type, payload, nonce }: HubMessage): boolean {
    if (type === 'Delta') {
      const gone = payload.tombstones.map((one) => this.#parts.objects.remove(one));
      const outcomes = [...gone, ...payload.upserts.map((one) => this.#apply(one))];
      this.#revision = Math.max(this.#revision, payload.revision);
      this.#acknowledge(payload.revision, outcomes, { upserts: payload.upserts, nonce });
    } else if (type === 'SnapshotBegin') this.#snapshot = [];
    else if (type === 'SnapshotChunk') this.#snapshot.push(...payload.upserts);
    else if (type === 'SnapshotEnd') {
      const upserts = this.#snapshot.splice(0);
      const applied = upserts.map((one) => this.#apply(one));
      const gone = payload.tombstones.map((one) => this.#parts.objects.remove(one));
      this.#revision = payload.revision;
      this.#acknowledge(payload.revision, [...applied, ...gone], { upserts, nonce });
    } else return false;
    return true;
  }

  #apply(upsert: Upsert): ObjectOutcome {
    const outcome = this.#parts.objects.apply(upsert);
    this.#parts.onWritten(this.#parts.objects.slotOf(upsert.hubUid));
    return outcome;
  }

  #acknowledge(
    revision: number,
    outcomes: readonly ObjectOutcome[],
    of: { readonly upserts: readonly Upsert[]; readonly nonce: string },
  ): void {
    this.#parts.sendAck({ revision, outcomes, digest: this.#parts.objects.specDigest }, of.nonce);
    for (const { hubUid, hubGeneration } of of.upserts) this.#parts.onApplied(hubUid, hubGeneration);
  }
}
