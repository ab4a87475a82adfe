/**
 * Tells one session what its agent should hold. One Delta in flight: the next is read only after the ack, so what
 * changed meanwhile is merged by itself. A session that begins with INVENTORY or SNAPSHOT gets no Delta before that is
 * acked. Nothing is kept here that Postgres does not hold, except which versions were sent in this session.
 */
import type { DesiredAck, Welcome } from '#protocol';
import { chunkBySize, digestOf } from '#protocol';
import type { Acceptance } from '../sessions/accept-hellos.ts';
import type { SessionKey } from '../sessions/session-key.ts';
import type { AgentPeer } from '../admission/agent-peer.ts';
import type { ChangeSet, DesiredRepository } from './desired.repository.ts';
import { type TargetRow, toTombstone, toUpsert } from './desired-target.ts';
import type { Applied } from './outcome.rules.ts';
import { splitDesired } from './split-desired.ts';
import type { Turns } from './turns.ts';

/** Frames stay well below the protocol's limit of 1 MiB. */
const CHUNK_BYTES = 512 * 1024;
const ACK_TIMEOUT_MS = 120_000;
const AGAIN_PAUSE_MS = 60_000;
/** Until a delete is looked at again that had passed while it was not known which database this is. */
const GATE_PAUSE_MS = 2_000;
/** Of what is sent again: read with one Delta; the rest goes with the next. */
const AGAIN_AT_ONCE = 500;

export interface SenderParts extends SessionKey {
  /** From this session's Hello. */
  readonly crdSchemaHash: string;
  readonly peer: AgentPeer;
  readonly desired: DesiredRepository;
  readonly turns: Turns;
  readonly nowMs: () => number;
  /** For how long an ack is waited for: a step of the clock must neither end that nor make it an hour longer. */
  readonly monotonicMs: () => number;
  readonly onSettled: (seconds: number) => void;
  readonly onFailure: (error: unknown) => void;
  /** This session may be told nothing any more. */
  readonly onFenced: () => void;
}

/** As the hub had it booked when the session began. */
export type Beginning = Pick<Extract<Acceptance, { accepted: true }>, 'head' | 'unsettled'>;

interface InFlight {
  readonly revision: number;
  readonly sentAtMs: number;
  /** When the agent told last how far it is: of much it tells in parts. */
  heardAtMs: number;
}

export class DesiredSender {
  readonly #parts: SenderParts;
  /** Versions sent last in this session, by hubUid: outcomes of older generations carry no hash. */
  readonly sent = new Map<string, Applied>();
  readonly #again = new Set<string>();
  /** Deletes left out of what was sent, whose revision is acked all the same: nothing else would ask for them. */
  readonly #gated = new Set<string>();
  #gateTimer: NodeJS.Timeout | undefined;
  #reached = 0;
  #mode: Welcome['mode'] = 'DELTA';
  /** A hint may come before it is known how the session begins: what it asks for then waits for `start`. */
  #started = false;
  #inFlight: InFlight | undefined;
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
    this.#started = true;
    if (mode !== 'DELTA') return this.wake();
    if (this.#dirty || appliedRevision < head.revision || unsettled.length > 0) return this.wake(unsettled);
    if (head.ackedRevision < head.revision) this.askForDigest();
  }

  stop(): void {
    this.#stopped = true;
    clearTimeout(this.#gateTimer);
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
    if (inFlight) inFlight.heardAtMs = this.#parts.monotonicMs();
    if (!inFlight || ack.revision < inFlight.revision) return false;
    this.#inFlight = undefined;
    // Not the higher of both: an agent that was ahead of a restored hub goes back to the snapshot's revision.
    this.#reached = inFlight.revision;
    this.#mode = 'DELTA';
    this.#parts.onSettled((this.#parts.monotonicMs() - inFlight.sentAtMs) / 1_000);
    this.wake();
    return true;
  }

  async #pump(): Promise<void> {
    if (this.#pumping || !this.#started) return;
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
    return this.#inFlight !== undefined && this.#parts.monotonicMs() - this.#inFlight.heardAtMs < ACK_TIMEOUT_MS;
  }

  async #sendDelta(): Promise<void> {
    const { desired, peer, turns } = this.#parts;
    const again = [...this.#again].slice(0, AGAIN_AT_ONCE);
    for (const hubUid of again) this.#again.delete(hubUid);
    if (this.#again.size > 0) this.#dirty = true;
    const read = await turns.run(() => desired.readChanges(this.#parts, this.#reached, again));
    if (read === undefined) return this.#fenced();
    const changes = cutToSize(read);
    this.#keepForNext(changes.left);
    const { upserts, tombstones, gated } = await splitDesired(changes.rows, this.#parts);
    this.#waitForGate(gated);
    const isEmpty = upserts.length + tombstones.length === 0 && changes.revision === this.#reached;
    if (isEmpty && !this.#probe) return;
    this.#probe = false;
    // What only changed has no next attempt yet.
    const tried = changes.rows.flatMap((row) => (row.revision === null || row.deletion !== null ? [row.hubUid] : []));
    if (tried.length > 0) await turns.run(() => desired.postpone(tried, AGAIN_PAUSE_MS));
    this.#expectAck(changes.revision, upserts);
    await peer.send('Delta', {
      revision: changes.revision,
      upserts: upserts.map(toUpsert),
      tombstones: tombstones.map(toTombstone),
    });
  }

  /** What the frame has no room for. */
  #keepForNext(left: readonly TargetRow[]): void {
    for (const row of left) if (row.revision === null) this.#again.add(row.hubUid);
    if (left.length > 0) this.#dirty = true;
  }

  async #sendSnapshot(): Promise<void> {
    const { desired, peer, turns } = this.#parts;
    const read = await turns.run(() => desired.readAll(this.#parts));
    if (read === undefined) return this.#fenced();
    const { revision, rows } = read;
    const { upserts, tombstones, held, gated } = await splitDesired(rows, this.#parts);
    this.#waitForGate(gated);
    this.#expectAck(revision, upserts);
    await peer.send('SnapshotBegin', { revision, objectCount: upserts.length });
    for (const chunk of chunkBySize(upserts.map(toUpsert), CHUNK_BYTES))
      await peer.send('SnapshotChunk', { upserts: chunk });
    // What does not fit the last frame is known to the agent as held, and follows as Deltas.
    const [first = [], ...rest] = chunkBySize(tombstones.map(toTombstone), CHUNK_BYTES);
    const later = rest.flat().map((tombstone) => tombstone.hubUid);
    for (const hubUid of later) this.#again.add(hubUid);
    const known = [...held, ...later];
    await peer.send('SnapshotEnd', {
      revision,
      digest: digestOf(upserts),
      tombstones: first,
      ...(known.length > 0 ? { held: known } : {}),
    });
  }

  #fenced(): void {
    this.stop();
    this.#parts.onFenced();
  }

  #waitForGate(gated: readonly string[]): void {
    for (const hubUid of gated) this.#gated.add(hubUid);
    if (this.#gated.size === 0 || this.#gateTimer !== undefined || this.#stopped) return;
    this.#gateTimer = setTimeout(() => {
      this.#gateTimer = undefined;
      const again = [...this.#gated];
      this.#gated.clear();
      this.wake(again);
    }, GATE_PAUSE_MS).unref();
  }

  #expectAck(revision: number, upserts: readonly TargetRow[]): void {
    const sentAtMs = this.#parts.monotonicMs();
    this.#inFlight = { revision, sentAtMs, heardAtMs: sentAtMs };
    for (const row of upserts) this.sent.set(row.hubUid, { generation: row.hubGeneration, hash: row.specHash });
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
