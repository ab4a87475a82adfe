/**
 * The agent's books of destructive changes that the hub wants (judge-change.ts decides): which were let pass in the last
 * minutes, which wait for a person. Both are kept over a restart, and written before anything is done or told. Each that is held is
 * told to people of the member cluster by an Event, a few at once, since the next may be a thousand.
 */
import { formatObjectKey } from '#domain';
import type { KubeObject } from '#domain';
import type { Upsert } from '#protocol';
import { countChange, holdChange } from './agent-state.ts';
import type { AgentState } from './agent-state.ts';
import type { UpsertDecision } from './decide-upsert.ts';
import type { DesiredParts } from './desired-parts.ts';
import { CHANGE_WINDOW_MS } from './judge-change.ts';
import type { ChangeHistory } from './judge-change.ts';
import { MassChanges } from './mass-changes.ts';
import { untilAnswered } from './until-answered.ts';

type Parts = Pick<DesiredParts, 'bounds' | 'state' | 'index' | 'clock' | 'log' | 'random' | 'signal' | 'alarm'>;

/** Within five minutes; what is beyond is told to the hub alone. */
const MAX_ALARMS = 20;

const hold = (state: AgentState, upsert: Upsert, live: KubeObject): AgentState =>
  holdChange(state, live.metadata.uid ?? '', { key: formatObjectKey(upsert), specHash: upsert.specHash });

export class ChangeBreaker {
  readonly #parts: Parts;
  readonly #mass = new MassChanges();
  /** Uid and hash: said once a session, however often the hub sends it again. */
  readonly #alarmed = new Set<string>();
  #alarmedMs: number[] = [];

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /** Call before the upserts of a message are worked off: a mass is held by one write, however large it is. */
  async noteMass(upserts: readonly Upsert[]): Promise<void> {
    const { bounds, index, state } = this.#parts;
    const mass = this.#mass.note(upserts, bounds.limits.maxDestructiveChanges, (key) => index.get(key));
    if (mass.length === 0) return;
    const holdAll = (now: AgentState): AgentState =>
      mass.reduce((all, { upsert, live }) => hold(all, upsert, live), now);
    await untilAnswered(() => state.changeDurably(holdAll), this.#parts);
  }

  historyOf({ hubUid }: Upsert): ChangeHistory {
    const { recentChangesMs, heldChanges } = this.#parts.state.current;
    return { recentChangesMs, heldChanges, isOfMass: this.#mass.has(hubUid), nowMs: this.#parts.clock.nowMs() };
  }

  /**
   * What was decided about an object that is here. Resolves when it is kept over a restart. Rejects when it is not: then
   * nothing may be written.
   */
  async note(upsert: Upsert, live: KubeObject, decision: UpsertDecision): Promise<void> {
    const { state, clock } = this.#parts;
    const { uid = '' } = live.metadata;
    if (decision.kind === 'UPDATE' && decision.counts) {
      await state.changeDurably((now) => countChange(now, uid, clock.nowMs()));
    }
    if (decision.kind !== 'OUTCOME' || decision.outcome.code !== 'CHANGE_BREAKER') return;
    await state.changeDurably((now) => hold(now, upsert, live));
    this.#alarm(upsert, `${uid} ${upsert.specHash}`, decision.outcome.message ?? '');
  }

  #alarm(upsert: Upsert, what: string, message: string): void {
    if (this.#alarmed.has(what)) return;
    const nowMs = this.#parts.clock.monotonicMs();
    this.#alarmedMs = this.#alarmedMs.filter((at) => nowMs - at < CHANGE_WINDOW_MS);
    if (this.#alarmedMs.length >= MAX_ALARMS) return;
    this.#alarmedMs.push(nowMs);
    this.#alarmed.add(what);
    this.#parts.alarm('ChangeHeld', message, [upsert]);
  }
}
