/**
 * Works off what the hub wants, one message after the other, and says what became of it. The applied revision rises when
 * a revision was processed, whatever the outcome, so one bad object never holds up the rest; only an API server that
 * does not answer does, since nothing is known then (MEMBER_API_DOWN). Absence never deletes: what a verified snapshot
 * lacks is UNCLAIMED. Lives as long as one session.
 */
import { formatObjectKey } from '#domain';
import type { ObjectKey } from '#domain';
import type { Delta, ObjectOutcome, Tombstone, Upsert } from '#protocol';
import { claim, raiseRevision, releaseChange, rememberTombstone } from './agent-state.ts';
import { applyTombstone } from './apply-tombstone.ts';
import { applyUpsert } from './apply-upsert.ts';
import { ChangeBreaker } from './change-breaker.ts';
import { countDeleteOf, otherDeletesMs } from './delete-count.ts';
import type { DesiredParts } from './desired-parts.ts';
import { isCountedInDigest, isUnclaimed } from './is-counted-in-digest.ts';
import { MassDeletes } from './mass-deletes.ts';
import { OutcomeBatch } from './outcome-batch.ts';
import { outcomeOf, rejected } from './outcome.ts';
import { untilAnswered } from './until-answered.ts';

type Wanted =
  { readonly kind: 'UPSERT'; readonly upsert: Upsert } | { readonly kind: 'TOMBSTONE'; readonly tombstone: Tombstone };

interface Waiting {
  readonly wanted: Wanted;
  readonly key: string;
  readonly told: ObjectOutcome;
}

export class DesiredProcessor {
  readonly #parts: DesiredParts;
  /** By hubUid: what could not be done yet and is tried again when its name changes, or after a while. */
  readonly #waiting = new Map<string, Waiting>();
  readonly #mass = new MassDeletes();
  readonly #changes: ChangeBreaker;
  /** The digest that the hub has heard of; undefined until the snapshot that this session begins with was answered. */
  #toldDigest: string | undefined;

  /** `toldDigest`: that of the Hello, when the session goes on from there. */
  constructor(parts: DesiredParts, toldDigest?: string) {
    this.#parts = parts;
    this.#toldDigest = toldDigest;
    this.#changes = new ChangeBreaker(parts);
  }

  get waitingObjects(): number {
    return this.#waiting.size;
  }

  /** Tombstones first: they beat upserts and free names. */
  async applyDelta(delta: Delta, nonce: string): Promise<void> {
    const batch = this.collect(this.#parts.state.current.appliedRevision);
    await this.processInto(batch, delta.upserts, delta.tombstones);
    this.#parts.state.change((state) => raiseRevision(state, delta.revision));
    this.acknowledge(delta.revision, batch.take(), nonce);
  }

  /** Outcomes to be told; of many, a part is told now and then, under a revision that says there is more to come. */
  collect(revision: number): OutcomeBatch {
    const { clock, maxFrameBytes } = this.#parts;
    const tell = (outcomes: readonly ObjectOutcome[]): void => this.acknowledge(revision, outcomes);
    return new OutcomeBatch(maxFrameBytes, tell, () => clock.monotonicMs());
  }

  async processInto(batch: OutcomeBatch, upserts: readonly Upsert[], tombstones: readonly Tombstone[]): Promise<void> {
    this.#noteMass(tombstones);
    for (const tombstone of tombstones) batch.add(await this.#run({ kind: 'TOMBSTONE', tombstone }));
    await this.#changes.noteMass(upserts);
    for (const upsert of upserts) batch.add(await this.#run({ kind: 'UPSERT', upsert }));
  }

  acknowledge(revision: number, outcomes: readonly ObjectOutcome[], nonce?: string): void {
    const digest = this.digest();
    if (nonce !== undefined || this.#toldDigest !== undefined) this.#toldDigest = digest;
    this.#parts.sendAck({ revision, outcomes, digest }, nonce);
  }

  /**
   * Says the digest when it is another one than the hub has heard. An object may go without a word: deleted before the watch
   * had shown it, or between Hello and Welcome. Without this the hub would take it for applied until the next change.
   */
  tellDigest(): void {
    if (this.#toldDigest === undefined || this.#toldDigest === this.digest()) return;
    this.acknowledge(this.#parts.state.current.appliedRevision, []);
  }

  digest(): string {
    const isWaiting = (hubUid: string): boolean => this.#waiting.has(hubUid);
    return this.#parts.index.digest(isCountedInDigest(this.#parts.state.current, isWaiting));
  }

  /** True when something waits for this name. */
  waitsFor(key: ObjectKey): boolean {
    const text = formatObjectKey(key);
    return [...this.#waiting.values()].some((entry) => entry.key === text);
  }

  /** Tries again what waits (for one name, or all of it) and tells what has changed. */
  async retryWaiting(key?: ObjectKey): Promise<void> {
    const text = key === undefined ? undefined : formatObjectKey(key);
    // What the breaker holds waits for a person, so for a change of the object, and never for time alone.
    const isDue = ({ key: of, told }: Waiting): boolean =>
      text === undefined ? told.code !== 'CHANGE_BREAKER' : of === text;
    const due = [...this.#waiting.values()].filter(isDue);
    const revision = this.#parts.state.current.appliedRevision;
    const changed = this.collect(revision);
    for (const entry of due) {
      const outcome = await this.#run(entry.wanted);
      if (outcome.state !== entry.told.state || outcome.code !== entry.told.code) changed.add(outcome);
    }
    const left = changed.take();
    if (left.length > 0) this.acknowledge(revision, left);
  }

  /** An object of the hub was deleted here by somebody else: told at once, never made again by itself (03 rule 6). */
  tellDeletedLocally(hubUid: string, hubGeneration: number): void {
    const message = 'The object was deleted in the member cluster; it is not made again by itself.';
    const outcome = outcomeOf({ hubUid, hubGeneration }, 'DELETED_LOCALLY', { code: 'DELETED_LOCALLY', message });
    this.acknowledge(this.#parts.state.current.appliedRevision, [outcome]);
  }

  #noteMass(tombstones: readonly Tombstone[]): void {
    const { bounds, state, alarm } = this.#parts;
    const { maxDeletes } = bounds.limits;
    const refused = this.#mass.note(tombstones, maxDeletes, (hubUid) => state.current.tombstones.has(hubUid));
    const message = `The hub sent ${refused.length} deletes at once without an approval, more than ${maxDeletes}; none was carried out.`;
    if (refused.length > 0) alarm('DeletesRefused', message, refused);
  }

  async #run(wanted: Wanted): Promise<ObjectOutcome> {
    const { signal, clock, log, random } = this.#parts;
    const target = wanted.kind === 'UPSERT' ? wanted.upsert : wanted.tombstone;
    const work = (): Promise<ObjectOutcome> =>
      wanted.kind === 'UPSERT' ? this.#upsert(wanted.upsert) : this.#tombstone(wanted.tombstone);
    const outcome = await untilAnswered(work, { signal, clock, log, random }).catch((error: unknown) => {
      if (signal.aborted) throw error;
      log('error', 'an object could not be processed', { hubUid: target.hubUid, error: String(error) });
      return { ...rejected(target, 'INVALID_INPUT', `The agent failed on it: ${String(error)}`), retryable: true };
    });
    if (outcome.state === 'WAITING' || outcome.code === 'ALREADY_EXISTS') {
      this.#waiting.set(target.hubUid, { wanted, key: formatObjectKey(target), told: outcome });
    } else this.#waiting.delete(target.hubUid);
    return outcome;
  }

  async #upsert(upsert: Upsert): Promise<ObjectOutcome> {
    const { api, bounds, state, index } = this.#parts;
    const { outcome, written } = await applyUpsert(
      {
        api,
        bounds,
        tombstoneOf: (hubUid) => state.current.tombstones.get(hubUid)?.operation,
        // Whatever is told as UNCLAIMED may be adopted, also what was deleted here and came back with a backup.
        isUnclaimed: (hubUid) => isUnclaimed(state.current, { hubUid, terminating: false }),
        managedObjects: () => index.list().length,
        dataSetHolder: ({ dataSetId, ...key }) =>
          dataSetId === undefined ? undefined : index.holderOf(key, dataSetId),
        changes: this.#changes,
      },
      upsert,
    );
    if (written !== undefined) index.wrote(written);
    if (outcome.state === 'APPLIED' || outcome.state === 'CONFLICT') {
      if (state.current.unclaimed.has(upsert.hubUid)) state.change((now) => claim(now, upsert.hubUid));
      const { uid = '' } = outcome;
      if (state.current.heldChanges.has(uid)) state.change((now) => releaseChange(now, uid));
    }
    return outcome;
  }

  async #tombstone(tombstone: Tombstone): Promise<ObjectOutcome> {
    const { api, bounds, state, index, clock } = this.#parts;
    const { hubUid } = tombstone;
    const before = state.current.tombstones.get(hubUid);
    const { outcome, remember, written } = await applyTombstone(
      {
        api,
        bounds,
        recentDeletesMs: (uid) => otherDeletesMs(state, uid),
        countDelete: (uid) => countDeleteOf(state, uid, clock.nowMs()),
        nowMs: () => clock.nowMs(),
        isOfMass: this.#mass.has(hubUid),
        carriedOut: before?.operation === 'DELETE' ? before : undefined,
      },
      tombstone,
    );
    if (written !== undefined) index.wrote(written);
    if (outcome.state === 'DELETED' && index.holds(tombstone, hubUid)) index.sawGone(tombstone);
    if (remember) await this.#remember(tombstone);
    return outcome;
  }

  async #remember({ hubUid, operation, approval }: Tombstone): Promise<void> {
    const { state, clock } = this.#parts;
    const before = state.current.tombstones.get(hubUid);
    const isUsedUp = approval === undefined || before?.approvalId === approval.id;
    if (before?.operation === operation && isUsedUp) return;
    const done = { operation, atMs: clock.nowMs(), ...(approval === undefined ? {} : { approvalId: approval.id }) };
    await state.changeDurably((now) => rememberTombstone(now, hubUid, done));
  }
}
