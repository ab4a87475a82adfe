/**
 * What must be true of the frames of one connection, said without a look into the hub: nothing about desired state before
 * Welcome; none before the inventory is whole, when the session begins with one; no Delta before the snapshot was acked; one
 * message in flight; and no more deletes without an approval within five minutes than the hub's limit. A hint that
 * overtakes any of it must not be seen here.
 */
import type { AgentMessage, HubMessage, Welcome } from '#protocol';

const WINDOW_MS = 5 * 60_000;

/** Of all connections of a run: deletes that were sent without an approval, when first. */
export class SentDeletes {
  readonly #sentMs = new Map<string, number>();
  readonly #ofBefore = new Set<string>();
  readonly #limit: number;
  readonly #nowMs: () => number;
  readonly #isApproved: (hubUid: string) => boolean;

  /** `isApproved`: a person has approved it, be it after it was sent; then it is counted no more. */
  constructor(limit: number, nowMs: () => number, isApproved: (hubUid: string) => boolean) {
    this.#limit = limit;
    this.#nowMs = nowMs;
    this.#isApproved = isApproved;
  }

  /** The hub's own book went back: what it had let through before goes again, and is counted no more. */
  forget(): void {
    for (const hubUid of this.#sentMs.keys()) this.#ofBefore.add(hubUid);
    this.#sentMs.clear();
  }

  /** True when the hub's limit is passed. */
  note(hubUid: string): boolean {
    if (this.#ofBefore.has(hubUid)) return false;
    if (!this.#sentMs.has(hubUid)) this.#sentMs.set(hubUid, this.#nowMs());
    const recent = [...this.#sentMs].filter(([sent, at]) => !this.#isApproved(sent) && this.#nowMs() - at < WINDOW_MS);
    return recent.length > this.#limit;
  }
}

export class MachineWire {
  readonly #deletes: SentDeletes;
  readonly #violate: (text: string) => void;
  #mode: Welcome['mode'] | undefined;
  #inventoryDone = false;
  #snapshotDone = false;
  #inFlight: number | undefined;

  constructor(deletes: SentDeletes, violate: (text: string) => void) {
    this.#deletes = deletes;
    this.#violate = violate;
  }

  hubSays(message: HubMessage): void {
    switch (message.type) {
      case 'Welcome':
        this.#mode = message.payload.mode;
        this.#inventoryDone = this.#mode !== 'INVENTORY';
        this.#snapshotDone = this.#mode === 'DELTA';
        return;
      case 'Delta':
        this.#expect(this.#snapshotDone, 'a Delta was sent before the snapshot was acked');
        this.#fly(message.payload.revision, message.payload.tombstones);
        return;
      case 'SnapshotBegin':
        this.#expect(this.#inventoryDone, 'a snapshot was sent before the inventory was whole');
        return;
      case 'SnapshotEnd':
        this.#fly(message.payload.revision, message.payload.tombstones);
        return;
      default:
    }
  }

  hubTakes(message: AgentMessage): void {
    if (message.type === 'InventoryChunk') this.#inventoryDone ||= message.payload.last;
    if (message.type !== 'DesiredAck' || this.#inFlight === undefined) return;
    if (message.payload.revision < this.#inFlight) return;
    this.#inFlight = undefined;
    this.#snapshotDone = true;
  }

  #fly(
    revision: number,
    tombstones: readonly { readonly hubUid: string; readonly operation: string; readonly approval?: unknown }[],
  ): void {
    this.#expect(this.#mode !== undefined, 'desired state was sent before Welcome');
    this.#expect(this.#inFlight === undefined, 'a second message was sent before the first was acked');
    this.#inFlight = revision;
    for (const { hubUid, operation, approval } of tombstones) {
      if (operation !== 'DELETE' || approval !== undefined) continue;
      if (this.#deletes.note(hubUid)) this.#violate('the hub sent more deletes in five minutes than its limit');
    }
  }

  #expect(isTrue: boolean, otherwise: string): void {
    if (!isTrue) this.#violate(otherwise);
  }
}
