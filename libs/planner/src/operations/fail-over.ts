/**
 * RedisOperation Failover: the primary is handed over once. Done when another than the noted pod is primary; when the
 * term has moved on and the noted one is primary again, others were faster, and it is not repeated behind their back.
 */
import type { OperationStep } from '#domain';
import type { AnsweringPod, ClusterView } from '../cluster-view.ts';
import { planSwitchoverAlone } from '../plan-switchover.ts';
import type { CannotSwitch, SwitchOverAction } from '../plan-switchover.ts';
import { notedOf, verdict } from './operation-kind.ts';
import type { OperationContext, OperationKind, OperationVerdict } from './operation-kind.ts';

/** From its beginning; each try pauses the writers for up to 5 s, so it does not go on for ever. */
const GIVE_UP_AFTER_MS = 120_000;
/** Nothing that time alone would change. */
const FOR_GOOD: ReadonlySet<string> = new Set(['NoReplica', 'NoSuchReplica']);

const askFor = (view: ClusterView, primary: AnsweringPod | undefined, to: string | undefined, name: string) =>
  planSwitchoverAlone(view, primary, {
    ...(to === undefined ? {} : { to }),
    reason: 'FailoverRequested',
    message: `RedisOperation ${name} asks for another primary${to === undefined ? '' : `, ${to}`}.`,
  });

/** A rule asks before there is a status of this pass. */
type Asked = Pick<OperationContext, 'operation' | 'view' | 'primary'>;

/** The hand-over that this operation needs now, or why not. */
const planRequestedFailover = ({ operation, view, primary }: Asked): SwitchOverAction | CannotSwitch =>
  askFor(view, primary, operation.spec.failover?.to, operation.metadata.name);

export const failOver: OperationKind = {
  begin: (context) => {
    const { operation, primary, view } = context;
    const to = operation.spec.failover?.to;
    if (to !== undefined && to === primary?.name) {
      return verdict('Succeeded', 'AlreadyPrimary', `${to} is the primary already.`);
    }
    const planned = planRequestedFailover(context);
    if ('cannot' in planned) {
      const { reason, message } = planned.cannot;
      return verdict(FOR_GOOD.has(reason) ? 'Failed' : 'Pending', reason, message);
    }
    return verdict('Running', 'HandingOver', `${planned.from} hands over to ${planned.to}.`, {
      steps: [step('Running', `${planned.from} hands over to ${planned.to}.`)],
      noted: { primary: planned.from, primaryTerm: String(view.record?.primaryTerm ?? 0) },
    });
  },
  proceed: (context) => judgeBegun(context).told,
  cancel: (context) =>
    judgeOutcome(context) ?? verdict('Cancelled', 'Cancelled', 'It was called off; the primary was not changed.'),
};

const step = (state: OperationStep['state'], message: string): OperationStep => ({ name: 'HandOver', state, message });

/** What a begun one has come to, and, only while it is Running, the hand-over that it still needs or why not. */
export interface BegunFailover {
  readonly told: OperationVerdict;
  readonly next?: SwitchOverAction | CannotSwitch;
}

/** Asked by the rule that acts and by the status that is told: what is told to be over is not carried out. */
export const judgeBegun = (asked: Asked): BegunFailover => {
  const outcome = judgeOutcome(asked);
  return outcome === undefined ? judgeAttempt(asked) : { told: outcome };
};

/** undefined while the noted primary still is the one, in the noted term. */
const judgeOutcome = ({ operation, primary, view }: Asked): OperationVerdict | undefined => {
  if (primary === undefined) return undefined;
  const noted = notedOf(operation, 'primary');
  if (primary.name !== noted) return judgeNewPrimary(primary.name, noted, operation.spec.failover?.to);
  const term = view.record?.primaryTerm ?? 0;
  if (term <= Number(notedOf(operation, 'primaryTerm') ?? term)) return undefined;
  const message = `${primary.name} is primary again after another one was. It is not repeated.`;
  return verdict('Failed', 'Overtaken', message, { steps: [step('Failed', message)] });
};

const judgeNewPrimary = (name: string, before: string | undefined, to: string | undefined): OperationVerdict => {
  const message = `${name} is primary; before it was ${before ?? 'unknown'}.`;
  if (to === undefined || to === name) {
    return verdict('Succeeded', 'HandedOver', message, { steps: [step('Done', message)] });
  }
  const steps = [step('Failed', message)];
  return verdict('Failed', 'AnotherPrimary', `${message} It is not repeated: create another RedisOperation.`, {
    steps,
  });
};

const judgeAttempt = (asked: Asked): BegunFailover => {
  const { operation, view } = asked;
  const next = planRequestedFailover(asked);
  const reason = 'cannot' in next ? next.cannot.reason : 'HandingOver';
  const message = 'cannot' in next ? next.cannot.message : `${next.from} hands over to ${next.to}.`;
  const begunMs = Date.parse(operation.status?.startedAt ?? '');
  if (view.nowMs - begunMs > GIVE_UP_AFTER_MS) {
    const text = `No hand-over within ${GIVE_UP_AFTER_MS / 1_000} s. ${message}`;
    return { told: verdict('Failed', 'NotInTime', text, { steps: [step('Failed', message)] }) };
  }
  return { told: verdict('Running', reason, message, { steps: [step('Running', message)] }), next };
};
