/**
 * Which RedisOperation of a RedisCluster is being carried out. One at a time, the oldest first, and one that has begun
 * stays the one until it is over: two at once would each see the other's doing as its own. A Plan only tells and a
 * Consent only permits, so these two neither wait nor hold up. A RotateCredentials that the Secret carries holds nobody up
 * any more: the rest follows from the Secret, may wait for one old client as long as that stays connected, and cannot be
 * called off; a Failover must not wait for that. A ReplaceUnreachable waits only for another one: what else is open may be
 * waiting for the very node that it declares dead. Whoever has not begun waits for it until its pod is deleted, and no
 * longer: the new pod may not start for as long as its volume is bound to that node.
 */
import { ANNOTATION, isOperationOver } from '#domain';
import type { OperationType, RedisClusterSnapshot, RedisOperationObject } from '#domain';
import type { ClusterView } from '../cluster-view.ts';

const UNBLOCKED: ReadonlySet<OperationType> = new Set<OperationType>(['Plan', 'Consent']);

export const isExclusive = ({ spec }: RedisOperationObject): boolean => !UNBLOCKED.has(spec.type);

/** Oldest first; of one age by name. */
export const openOperations = ({
  operations = [],
}: Pick<RedisClusterSnapshot, 'operations'>): readonly RedisOperationObject[] =>
  [...operations].filter(({ status }) => !isOperationOver(status?.phase)).sort(compareAge);

const compareAge = (a: RedisOperationObject, b: RedisOperationObject): number =>
  createdAtMs(a) - createdAtMs(b) || a.metadata.name.localeCompare(b.metadata.name);

export const createdAtMs = ({ metadata }: RedisOperationObject): number =>
  Date.parse(metadata.creationTimestamp ?? '') || 0;

const isReplacement = ({ spec }: RedisOperationObject): boolean => spec.type === 'ReplaceUnreachable';
const isRunning = ({ status }: RedisOperationObject): boolean => status?.phase === 'Running';

/** The exclusive one whose turn it is: begun, or else the oldest that waits. Replacements are looked at by themselves. */
export const findActiveOperation = (view: Pick<ClusterView, 'snapshot'>): RedisOperationObject | undefined =>
  chooseActive(
    listExclusive(view).filter(
      (operation) => !isReplacement(operation) && !isCarriedBySecret(view.snapshot, operation),
    ),
  );

/** Whom this one waits for; undefined when it is its turn, or when it has begun. */
export const findPredecessor = (
  view: Pick<ClusterView, 'snapshot'>,
  operation: RedisOperationObject,
): RedisOperationObject | undefined => {
  if (!isExclusive(operation) || isRunning(operation)) return undefined;
  const deleting = listExclusive(view).filter((one) => isReplacement(one) && !hasDeleted(view.snapshot, one));
  const first = isReplacement(operation) ? chooseActive(deleting) : (deleting[0] ?? findActiveOperation(view));
  return first === operation ? undefined : first;
};

const listExclusive = ({ snapshot }: Pick<ClusterView, 'snapshot'>): readonly RedisOperationObject[] =>
  openOperations(snapshot).filter(isExclusive);

const chooseActive = (operations: readonly RedisOperationObject[]): RedisOperationObject | undefined =>
  operations.find(isRunning) ?? operations[0];

/** It has begun, and the pod that it noted is gone: what is left is to see its successor start. */
const hasDeleted = ({ pods }: RedisClusterSnapshot, operation: RedisOperationObject): boolean => {
  const noted = Object.values(operation.status?.noted ?? {});
  return isRunning(operation) && !pods.some(({ uid }) => noted.includes(uid));
};

const isCarriedBySecret = ({ children }: RedisClusterSnapshot, { spec, metadata }: RedisOperationObject): boolean =>
  spec.type === 'RotateCredentials' &&
  children.some(
    (child) =>
      child.kind === 'Secret' && child.metadata.annotations?.[ANNOTATION.rotationOperation] === (metadata.uid ?? ''),
  );

/** Of this type, begun as the status on the server says, and not called off: only then is anything done for it. */
export const findBegunOperation = (
  view: Pick<ClusterView, 'snapshot'>,
  type: OperationType,
): RedisOperationObject | undefined => {
  const active =
    type === 'ReplaceUnreachable'
      ? listExclusive(view).find((one) => isReplacement(one) && isRunning(one) && !hasDeleted(view.snapshot, one))
      : findActiveOperation(view);
  const begun = active !== undefined && isRunning(active) && active.spec.type === type && active.spec.cancel !== true;
  return begun ? active : undefined;
};
