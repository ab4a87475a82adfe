/**
 * Tells one session what its agent should hold. One Delta in flight: the next is read only after the ack, so what
 * changed meanwhile is merged by itself. A session that begins with INVENTORY or SNAPSHOT gets no Delta before that is
 * acked. Nothing is kept here that Postgres does not hold, except which versions were sent in this session.
 */
import type { DesiredAck, Welcome } from '#protocol';
import { chunkBySize, digestOf } from '#protocol';
import type { Acceptance } from './accept-hellos.ts';
import type { AgentPeer } from './agent-peer.ts';
import type { ChangeSet, DesiredRepository } from './desired.repository.ts';
import { type TargetRow, toTombstone, toUpsert } from './desired-target.ts';
import type { Applied } from './outcome.rules.ts';

/** Frames stay well below the protocol's limit of 1 MiB. */
const CHUNK_BYTES = 512 * 1024;
const ACK_TIMEOUT_MS = 120_000;
const AGAIN_PAUSE_MS = 60_000;

export interface SenderParts {
  readonly agentId: string;
  readonly peer: AgentPeer;
  readonly desired: DesiredRepository;
  readonly nowMs: () => number;
  readonly onSettled: (seconds: number) => void;
  readonly onFailure: (error: unknown) => void;
}

/** As the hub had it booked when the session began. */
export type Beginning = Pick<Extract<Acceptance, { accepted: true }>, 'head' | 'unsettled'>;

interface Split {
  readonly upserts: readonly TargetRow[];
  readonly tombstones: readonly TargetRow[];
  /** Deletes that the breaker holds back, by hubUid. */
  readonly held: readonly string[];
}

export class DesiredSender {
  readonly #parts: SenderParts;
  /** Versions sent last in this session, by hubUid: outcomes of older generations carry no hash. */
  readonly sent = new Map<string, Applied>();
  readonly #again = new Set<string>();
  #reached = 0;
  #mode: Welcome['mode'] = 'DELTA';
  #inFlight: { readonly revision: number; readonly sentAtMs: number } | undefined;
  #dirty = false;
  #probe = false;
  #pumping = false;
  #stopped = false;

  constructor(parts: SenderParts) {
    this.#parts = parts;
  }

  /** Whether the digest of this ack is about everything: not before the snapshot of this session is through. */
  isComparable(ack: DesiredAck): boolean {
    if (this.#mode === 'DELTA') return true;
    return this.#inFlight !== undefined && ack.revision >= this.#inFlight.revision;
  }

  /**
   * `appliedRevision`: from the agent's Hello. An agent that is in step is sent nothing and costs no read; one whose last
   * ack was lost is asked for its digest.
   */
  start(mode: Welcome['mode'], appliedRevision: number, { head, unsettled }: Beginning): void {
    this.#mode = mode;
    this.#reached = appliedRevision;
    if (mode !== 'DELTA') return this.wake();
    if (appliedRevision < head.revision || unsettled.length > 0) return this.wake(unsettled);
    if (head.ackedRevision < head.revision) this.askForDigest();
  }

  stop(): void {
    this.#stopped = true;
  }

  /** Asks for the agent's digest: an ack of nothing new. For an agent that could not see its API server at Hello. */
  askForDigest(): void {
    this.#probe = true;
    this.wake();
  }

  /** There may be something to tell; `again`: objects to be sent though their revision was. */
  wake(again: readonly string[] = []): void {
    for (const hubUid of again) this.#again.add(hubUid);
    this.#dirty = true;
    void this.#pump();
  }

  /** The inventory is booked: the snapshot follows. */
  onInventoryBooked(): void {
    if (this.#mode !== 'INVENTORY') return;
    this.#mode = 'SNAPSHOT';
    this.wake();
  }

  /** True when it settles what was in flight. Acks beyond that are news of objects that waited. */
  onAcked(ack: DesiredAck): boolean {
    const inFlight = this.#inFlight;
    if (!inFlight || ack.revision < inFlight.revision) return false;
    this.#inFlight = undefined;
    // Not the higher of both: an agent that was ahead of a restored hub goes back to the snapshot's revision.
    this.#reached = inFlight.revision;
    this.#mode = 'DELTA';
    this.#parts.onSettled((this.#parts.nowMs() - inFlight.sentAtMs) / 1_000);
    this.wake();
    return true;
  }

  async #pump(): Promise<void> {
    if (this.#pumping) return;
    this.#pumping = true;
    try {
      while (this.#dirty && !this.#stopped && this.#mode !== 'INVENTORY' && !this.#waitsForAck()) {
        this.#dirty = false;
        if (this.#mode === 'SNAPSHOT') await this.#sendSnapshot();
        else await this.#sendDelta();
      }
    } catch (error) {
      this.#parts.onFailure(error);
    } finally {
      this.#pumping = false;
    }
  }

  #waitsForAck(): boolean {
    return this.#inFlight !== undefined && this.#parts.nowMs() - this.#inFlight.sentAtMs < ACK_TIMEOUT_MS;
  }

  async #sendDelta(): Promise<void> {
    const { agentId, desired, peer } = this.#parts;
    const again = [...this.#again];
    this.#again.clear();
    const changes = cutToSize(await desired.readChanges(agentId, this.#reached, again));
    for (const row of changes.left) if (row.revision === null) this.#again.add(row.hubUid);
    if (changes.left.length > 0) this.#dirty = true;
    const { upserts, tombstones } = await this.#split(changes.rows);
    const isEmpty = upserts.length + tombstones.length === 0 && changes.revision === this.#reached;
    if (isEmpty && !this.#probe) return;
    this.#probe = false;
    await desired.postpone(
      changes.rows.map((row) => row.hubUid),
      AGAIN_PAUSE_MS,
    );
    this.#expectAck(changes.revision, upserts);
    await peer.send('Delta', {
      revision: changes.revision,
      upserts: upserts.map(toUpsert),
      tombstones: tombstones.map(toTombstone),
    });
  }

  async #sendSnapshot(): Promise<void> {
    const { agentId, desired, peer } = this.#parts;
    const { revision, rows } = await desired.readAll(agentId);
    const { upserts, tombstones, held } = await this.#split(rows);
    this.#expectAck(revision, upserts);
    await peer.send('SnapshotBegin', { revision, objectCount: upserts.length });
    for (const chunk of chunkBySize(upserts.map(toUpsert), CHUNK_BYTES))
      await peer.send('SnapshotChunk', { upserts: chunk });
    await peer.send('SnapshotEnd', {
      revision,
      digest: digestOf(upserts),
      tombstones: tombstones.map(toTombstone),
      ...(held.length > 0 ? { held } : {}),
    });
  }

  #expectAck(revision: number, upserts: readonly TargetRow[]): void {
    this.#inFlight = { revision, sentAtMs: this.#parts.nowMs() };
    for (const row of upserts) this.sent.set(row.hubUid, { generation: row.hubGeneration, hash: row.specHash });
  }

  /** Tombstones of DELETE have passed the breaker, or pass it now; those held back wait for a person. */
  async #split(rows: readonly TargetRow[]): Promise<Split> {
    const upserts = rows.filter((row) => row.deletion === null);
    const doomed = rows.filter((row) => row.deletion === 'DELETE');
    const unjudged = doomed.filter((row) => row.breaker === 'UNJUDGED' || row.breaker === 'EXPIRED');
    const released = await this.#release(unjudged);
    const mayGo = (row: TargetRow): boolean => row.breaker === 'RELEASED' || released.has(row.hubUid);
    return {
      upserts,
      tombstones: rows.filter((row) => row.deletion === 'ORPHAN' || (row.deletion === 'DELETE' && mayGo(row))),
      held: doomed.filter((row) => !mayGo(row)).map((row) => row.hubUid),
    };
  }

  async #release(rows: readonly TargetRow[]): Promise<ReadonlySet<string>> {
    const { agentId, desired, nowMs } = this.#parts;
    if (rows.length === 0) return new Set();
    const hubUids = rows.map((row) => row.hubUid);
    return desired.release(agentId, hubUids, nowMs());
  }
}

/** The part that fits one frame, and the revision that this part reaches. */
function cutToSize(changes: ChangeSet): ChangeSet & { readonly left: readonly TargetRow[] } {
  let bytes = 0;
  const end = changes.rows.findIndex((row, index) => {
    bytes += Buffer.byteLength(JSON.stringify(row.spec)) + 1_024;
    return index > 0 && bytes > CHUNK_BYTES;
  });
  if (end === -1) return { ...changes, left: [] };
  const [rows, left] = [changes.rows.slice(0, end), changes.rows.slice(end)];
  const complete = left.every((row) => row.revision === null);
  const last = rows.reduce((highest, row) => Math.max(highest, row.revision ?? 0), 0);
  return { rows, left, revision: complete ? changes.revision : last };
}
