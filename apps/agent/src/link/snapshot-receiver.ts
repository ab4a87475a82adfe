/**
 * Receives a snapshot: applies its objects as they come (each is safe by itself), and only when count and digest prove
 * that all of it arrived does the revision count and is UNCLAIMED decided. A snapshot that fails the proof ends
 * the session; the revision that the agent tells in its next Hello is then the old one (03 rule 9).
 */
import { chunkBySize, digestOf } from '#protocol';
import type { ObjectVersion, SnapshotBegin, SnapshotChunk, SnapshotEnd } from '#protocol';
import { setRevision, setUnclaimed } from './agent-state.ts';
import type { DesiredParts } from './desired-parts.ts';
import type { DesiredProcessor } from './desired-processor.ts';
import { isUnclaimed } from './is-counted-in-digest.ts';
import type { OutcomeBatch } from './outcome-batch.ts';
import { untilAnswered } from './until-answered.ts';

interface Received {
  readonly begin: SnapshotBegin;
  readonly versions: ObjectVersion[];
  readonly batch: OutcomeBatch;
}

export class SnapshotReceiver {
  readonly #parts: DesiredParts;
  readonly #processor: DesiredProcessor;
  #received: Received | undefined;

  constructor(parts: DesiredParts, processor: DesiredProcessor) {
    this.#parts = parts;
    this.#processor = processor;
  }

  begin(begin: SnapshotBegin): void {
    // Below the snapshot's own revision, even where another hub had reached a higher one: it is not done before its end.
    const before = Math.max(0, Math.min(this.#parts.state.current.appliedRevision, begin.revision - 1));
    this.#received = { begin, versions: [], batch: this.#processor.collect(before) };
  }

  async addChunk(chunk: SnapshotChunk): Promise<void> {
    const received = this.#expect();
    received.versions.push(
      ...chunk.upserts.map(({ hubUid, hubGeneration, specHash }) => ({ hubUid, hubGeneration, specHash })),
    );
    await this.#processor.processInto(received.batch, chunk.upserts, []);
  }

  /** True when other objects are UNCLAIMED now than before. Throws when the snapshot is not whole. */
  async end(end: SnapshotEnd, nonce: string): Promise<boolean> {
    const received = this.#expect();
    this.#received = undefined;
    verify(received, end);
    await this.#processor.processInto(received.batch, [], end.tombstones);
    const before = this.#parts.state.current.unclaimed;
    await this.#settle(end, new Set(received.versions.map((version) => version.hubUid)));
    const after = this.#parts.state.current.unclaimed;
    this.#processor.acknowledge(end.revision, received.batch.take(), nonce);
    return before.size !== after.size || [...after].some((hubUid) => !before.has(hubUid));
  }

  /** Everything here that carries a hub's annotations, in as many chunks as the frame limit asks for. */
  sendInventory(): void {
    const { index, state, maxFrameBytes, sendInventory } = this.#parts;
    const objects = index.list().map(({ terminating, ...object }) => ({
      ...object,
      unclaimed: isUnclaimed(state.current, { hubUid: object.hubUid, terminating }),
    }));
    const chunks = chunkBySize(objects, maxFrameBytes / 2);
    if (chunks.length === 0) chunks.push([]);
    for (const [at, chunk] of chunks.entries()) sendInventory({ objects: chunk, last: at === chunks.length - 1 });
  }

  #settle(end: SnapshotEnd, known: ReadonlySet<string>): Promise<void> {
    const { index, state, alarm } = this.#parts;
    const leaving = new Set([...end.tombstones.map((tombstone) => tombstone.hubUid), ...(end.held ?? [])]);
    const before = state.current.unclaimed;
    const unknown = index.list().filter(({ hubUid }) => !known.has(hubUid) && !leaving.has(hubUid));
    const unclaimed = unknown.map(({ hubUid }) => hubUid);
    const added = unknown.filter(({ hubUid }) => !before.has(hubUid));
    if (added.length > 0) alarm('Unclaimed', 'The hub does not know this object any more; it is kept as it is.', added);
    return untilAnswered(
      () => state.changeDurably((now) => setRevision(setUnclaimed(now, unclaimed), end.revision)),
      this.#parts,
    );
  }

  #expect(): Received {
    if (this.#received === undefined) throw new Error('a part of a snapshot came without its beginning');
    return this.#received;
  }
}

function verify({ begin, versions }: Received, end: SnapshotEnd): void {
  if (begin.revision !== end.revision) throw new Error('the snapshot began and ended with different revisions');
  if (versions.length !== begin.objectCount) {
    throw new Error(`the snapshot has ${versions.length} objects in place of ${begin.objectCount}`);
  }
  if (digestOf(versions) !== end.digest) throw new Error('the snapshot is not what its digest says');
}
