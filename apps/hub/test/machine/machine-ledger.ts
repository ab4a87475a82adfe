/**
 * What must be true of hub, agent and member cluster, as short as it can be said: what people asked for, what was done to
 * the member cluster and by whom. Every write of the agent is judged in the moment it happens, from this book alone and
 * never from what hub or agent believe:
 *   - only an object whose deletion (or release) a person asked for is deleted (or let go), at most three in five minutes that nobody approved;
 *   - of more such deletes in one message than that none is carried out in that session;
 *   - no object is deleted other than the one that was meant: what was put back after its delete was asked for, or approved, is kept;
 *   - what was put back after its delete was carried out, or while it was, is not deleted again without a new approval;
 *   - a delete that was pending when the hub was restored is carried out only after a person has said so again;
 *   - a hubUid whose tombstone was acknowledged is not made again;
 *   - the generation of an object never falls; what carries another hubUid, or none, is not taken without `adopt`;
 *   - a field that a person edited keeps its value.
 */
import { ANNOTATION } from '#domain';
import type { KubeObject } from '#domain';
import type { StoreEvent } from '#testing';
import { MAX_DELETES } from './machine-agent.ts';
import { hubUidOf } from './machine-member.ts';
import type { Writer } from './machine-member.ts';

const WINDOW_MS = 5 * 60_000;

export interface LedgerObject {
  readonly hubUid: string;
  readonly name: string;
  readonly adopt: boolean;
  deletion?: 'DELETE' | 'ORPHAN';
  /** A person let it through the breaker. */
  approved?: true;
  /** uid of the object that the agent deleted for it. */
  carriedOutOn?: string;
  /** uid of the object that a person put in its place while the delete was being carried out. */
  keep?: string;
  /** Approvals under which it was carried out: they are no word about what was put back since. */
  readonly used: Set<string>;
  /** When its delete was asked for or approved last, the hub could know which object it was about. */
  isNamed?: boolean;
  /** uids of objects that a person put back since then. */
  readonly strangers: Set<string>;
  /** It came with more deletes than the agent takes; for this session. */
  ofMass?: true;
  /** It was pending when the hub was restored. */
  mustBeSaidAgain?: true;
  /** The hub's row went after the agent's ack. */
  gone?: true;
}

const sizeOf = (object: KubeObject | undefined): unknown => (object?.['spec'] as { size?: unknown } | undefined)?.size;
const generationOf = (object: KubeObject | undefined): number =>
  Number(object?.metadata.annotations?.[ANNOTATION.hubGeneration] ?? 0);
const isTerminating = (object: KubeObject | undefined): boolean => object?.metadata.deletionTimestamp !== undefined;

/** `kubectl-create` made it, `kubectl-edit` changed its size: fields that the hub must not take. */
export const isOwnedBy = (manager: 'kubectl-create' | 'kubectl-edit', object: KubeObject | undefined): boolean =>
  (object?.metadata.managedFields ?? []).some((entry) => entry.manager === manager);

export class MachineLedger {
  readonly objects = new Map<string, LedgerObject>();
  readonly violations: string[] = [];
  /** The agent lost what it remembers; with a restored hub as well, nobody knows of a tombstone any more. */
  stateLost = false;
  hubRestored = false;
  /** On the agent's clock, since it last lost its memory. */
  deletesMs: number[] = [];
  /** How often what the book is about has happened: a run in which it never does proves nothing. */
  readonly seen = { refusedDelete: 0, mass: 0, putBack: 0, heldByRestore: 0, lateAck: 0, overtaken: 0, exchanged: 0 };
  /** Of all objects that were there. */
  readonly #uids = new Set<string>();
  readonly #approvals = new Map<string, string | undefined>();
  readonly #nowMs: () => number;
  readonly #remembers: (hubUid: string) => boolean;

  /** `remembers`: the agent's memory, as its API server has it, knows that this hubUid was deleted. */
  constructor(nowMs: () => number, remembers: (hubUid: string) => boolean) {
    this.#nowMs = nowMs;
    this.#remembers = remembers;
  }

  wish(hubUid: string, name: string, adopt: boolean): void {
    this.objects.set(hubUid, { hubUid, name, adopt, used: new Set(), strangers: new Set() });
  }

  /** A person asks for a delete: of what is there now. `isNamed`: the agent has told that the object is there. */
  means(hubUid: string, isNamed: boolean): void {
    const object = this.objects.get(hubUid);
    if (object === undefined) return;
    object.isNamed = isNamed;
    object.strangers.clear();
  }

  /** A person put back objects; those with a uid that was never seen are others than before. */
  putBack(live: readonly KubeObject[]): void {
    for (const object of live) {
      const { uid = '' } = object.metadata;
      if (this.#uids.has(uid)) continue;
      this.#uids.add(uid);
      const wish = this.objects.get(hubUidOf(object) ?? '');
      if (wish?.deletion === 'DELETE' && wish.isNamed) wish.strangers.add(uid);
    }
  }

  approve(hubUid: string, isNamed: boolean): void {
    const object = this.objects.get(hubUid);
    if (object === undefined) return;
    this.means(hubUid, isNamed);
    object.approved = true;
    delete object.mustBeSaidAgain;
    delete object.ofMass;
  }

  /** The approval that the delete of an object came with last, as the agent was told it. */
  toldApproval(hubUid: string, approvalId: string | undefined): void {
    this.#approvals.set(hubUid, approvalId);
  }

  /** A person put another object in its place, under the agent's hands. */
  putBackAs(hubUid: string, uid: string): void {
    const wish = this.objects.get(hubUid);
    if (wish === undefined) return;
    wish.keep = uid;
    this.#useUp(wish);
  }

  /** False when the approval was used before, or there is none. */
  #useUp({ hubUid, used }: LedgerObject): boolean {
    const approval = this.#approvals.get(hubUid);
    if (approval === undefined || used.has(approval)) return false;
    used.add(approval);
    return true;
  }

  /** Deletes without an approval that came in one message, and were not carried out before. */
  told(hubUids: readonly string[]): void {
    if (hubUids.length <= MAX_DELETES) return;
    this.seen.mass += 1;
    for (const hubUid of hubUids) {
      const object = this.objects.get(hubUid);
      if (object !== undefined) object.ofMass = true;
    }
  }

  newSession(): void {
    for (const object of this.objects.values()) delete object.ofMass;
  }

  /** The hub kept what was put back although it was never deleted for this. */
  kept(hubUid: string): void {
    if (this.objects.get(hubUid)?.carriedOutOn === undefined) this.seen.exchanged += 1;
  }

  /** The hub came back older than it was: which wishes it remembers, and what it knew by then, is not in this book. */
  forgetNames(): void {
    for (const { hubUid } of this.objects.values()) this.means(hubUid, false);
  }

  /** The hub came back older than it was, and knows it. */
  restored(pending: readonly string[]): void {
    for (const hubUid of pending) {
      const object = this.objects.get(hubUid);
      if (object === undefined) continue;
      object.mustBeSaidAgain = true;
      delete object.approved;
      this.seen.heldByRestore += 1;
    }
  }

  observe(event: StoreEvent, writer: Writer): void {
    const { object, previous } = event;
    if (event.type === 'ADDED') this.#uids.add(object.metadata.uid ?? '');
    if (writer !== 'agent') return;
    const wasDeleted = event.type === 'DELETED' || (isTerminating(object) && !isTerminating(previous));
    if (wasDeleted) this.#judgeDeletion(previous ?? object);
    else if (event.type === 'ADDED') this.#judgeCreation(object);
    else this.#judgeUpdate(object, previous);
  }

  #judgeDeletion(object: KubeObject): void {
    const hubUid = hubUidOf(object) ?? 'nobody';
    if (this.objects.get(hubUid)?.deletion !== 'DELETE')
      this.#violate(`${object.metadata.name} (${hubUid}) was deleted and nobody asked for it`);
    const wish = this.objects.get(hubUid);
    if (wish !== undefined) this.#judgeMeaning(wish, object.metadata.uid ?? '');
    // Of a hub that was put back unnoticed the approvals of then are good as well.
    if (wish?.approved || this.#approvals.get(hubUid) !== undefined) return;
    this.deletesMs = [...this.deletesMs.filter((at) => this.#nowMs() - at < WINDOW_MS), this.#nowMs()];
    if (this.deletesMs.length > MAX_DELETES) this.#violate(`${this.deletesMs.length} deletes within five minutes`);
  }

  #judgeMeaning(wish: LedgerObject, uid: string): void {
    const { hubUid, carriedOutOn, keep, mustBeSaidAgain, ofMass } = wish;
    if (ofMass && !wish.approved) this.#violate(`${wish.name} (${hubUid}) was deleted with a mass of others`);
    if (wish.strangers.has(uid))
      this.#violate(
        `${wish.name} (${hubUid}) was put back after its delete was asked for, and another object was deleted`,
      );
    const isBack = carriedOutOn !== undefined && carriedOutOn !== uid && this.#remembers(hubUid);
    const isApprovedAnew = this.#useUp(wish);
    if ((isBack || keep === uid) && !isApprovedAnew)
      this.#violate(`${wish.name} (${hubUid}) was put back and deleted again`);
    if (mustBeSaidAgain)
      this.#violate(`${wish.name} (${hubUid}) was deleted for a restored hub, and nobody said so again`);
    wish.carriedOutOn = uid;
  }

  #judgeCreation(object: KubeObject): void {
    const hubUid = hubUidOf(object) ?? 'nobody';
    const wish = this.objects.get(hubUid);
    if (wish === undefined) return this.#violate(`${object.metadata.name} was made and nobody asked for it`);
    const forgotten = this.stateLost && this.hubRestored;
    if (wish.gone && !forgotten) this.#violate(`${hubUid} came back after its tombstone was acknowledged`);
  }

  #judgeUpdate(object: KubeObject, previous: KubeObject | undefined): void {
    const wrong = this.#explainTaking(object, previous) ?? explainRewriting(object, previous);
    if (wrong !== undefined) this.#violate(`${object.metadata.name} ${wrong}`);
  }

  #explainTaking(object: KubeObject, previous: KubeObject | undefined): string | undefined {
    const [now, before] = [hubUidOf(object), hubUidOf(previous)];
    if (now === before) return undefined;
    if (now === undefined) {
      return this.objects.get(before ?? '')?.deletion === 'ORPHAN' ? undefined : 'was let go and nobody asked for it';
    }
    return this.objects.get(now)?.adopt ? undefined : `was taken from ${before ?? 'a person'} by ${now}`;
  }

  #violate(text: string): void {
    this.violations.push(text);
  }
}

function explainRewriting(object: KubeObject, previous: KubeObject | undefined): string | undefined {
  if (hubUidOf(object) === hubUidOf(previous) && generationOf(object) < generationOf(previous))
    return `fell from generation ${generationOf(previous)} to ${generationOf(object)}`;
  const [size, before] = [sizeOf(object), sizeOf(previous)];
  if (isOwnedBy('kubectl-edit', previous) && size !== before)
    return `lost a person's edit: ${String(before)} became ${String(size)}`;
  return undefined;
}
