/** What each type of RedisOperation knows of itself; `judge-operations` asks them. All pure. */
import { ownValue } from '#domain';
import type { PlannedOperation, PlannedStatus, RedisOperationObject } from '#domain';
import type { AnsweringPod, ClusterView } from '../cluster-view.ts';
import type { PreviewInput } from './preview-change.ts';

export interface OperationContext {
  readonly operation: RedisOperationObject;
  readonly view: ClusterView;
  readonly primary: AnsweringPod | undefined;
  /** Of this pass, as it will be reported. */
  readonly status: PlannedStatus;
  /** The whole planner over another picture, at this instant. */
  readonly replan: PreviewInput['replan'];
}

export type OperationVerdict = Omit<PlannedOperation, 'name' | 'uid'>;

export interface OperationKind {
  /** It is this operation's turn: Running with what is noted, Pending with what it waits for, or over. */
  readonly begin: (context: OperationContext) => OperationVerdict;
  /** It has begun: how far it is, told from the world. */
  readonly proceed: (context: OperationContext) => OperationVerdict;
  /** It has begun and is called off. */
  readonly cancel: (context: OperationContext) => OperationVerdict;
}

export const verdict = (
  phase: OperationVerdict['phase'],
  reason: string,
  message: string,
  more: Partial<OperationVerdict> = {},
): OperationVerdict => ({ phase, reason, message, steps: [], ...more });

export const notedOf = ({ status }: RedisOperationObject, name: string): string | undefined =>
  ownValue(status?.noted, name);
