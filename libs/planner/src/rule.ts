/**
 * What a rule is: one named decision, from the view and from what earlier rules planned. A rule may plan actions, state
 * findings, and halt: then no later rule plans anything.
 */
import type { Action, ConditionStatus, ConditionType, RolloutStatus } from '#domain';
import type { AnsweringPod, ClusterView } from './cluster-view.ts';

/** What a rule holds to be true, for the conditions of the status. The first finding of a type wins. */
export interface Finding {
  readonly type: ConditionType;
  readonly status: ConditionStatus;
  /** Stable code in CamelCase. */
  readonly reason: string;
  /** What, why, what to do next. */
  readonly message: string;
}

export interface RuleOutcome {
  readonly reason: string;
  readonly message: string;
  readonly actions?: readonly Action[];
  readonly findings?: readonly Finding[];
  /** Where a rolling change is. */
  readonly rollout?: RolloutStatus;
  /** No later rule plans anything. */
  readonly halt?: boolean;
}

export interface RuleContext {
  readonly view: ClusterView;
  /** Confirmed by findPrimary; undefined while nobody is. */
  readonly primary: AnsweringPod | undefined;
  /** What earlier rules of this pass planned. */
  readonly planned: readonly Action[];
}

/** undefined: the rule has nothing to say. */
export interface Rule {
  readonly name: string;
  readonly decide: (context: RuleContext) => RuleOutcome | undefined;
}

/** A finding that asks a person: shown as ActionRequired, with the same words in the trail. */
export const askPerson = (reason: string, message: string, halt = false): RuleOutcome => ({
  reason,
  message,
  findings: [{ type: 'ActionRequired', status: 'True', reason, message }],
  ...(halt ? { halt } : {}),
});

/** Something that is going to happen by itself: nothing is planned, the sentence tells what is waited for. */
export const waitFor = (reason: string, message: string): RuleOutcome => ({
  reason,
  message,
  findings: [{ type: 'Reconciling', status: 'True', reason, message }],
});
