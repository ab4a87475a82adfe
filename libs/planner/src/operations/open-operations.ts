/**
 * Which RedisOperation of a RedisCluster is being carried out. One at a time, the oldest first, and one that has begun
 * stays the one until it is over: two at once would each see the other's doing as its own. A Plan only tells and a
 * Consent only permits, so these two neither wait nor hold up. A RotateCredentials that the Secret carries holds nobody up
 * any more: the rest follows from the Secret, may wait for one old client as long as that stays connected, and cannot be
 * called off; a Failover or a ReplaceUnreachable must not wait for that.
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

/** The exclusive one whose turn it is: begun, or else the oldest that waits. */
export const findActiveOperation = (view: Pick<ClusterView, 'snapshot'>): RedisOperationObject | undefined => {
  const exclusive = openOperations(view.snapshot).filter(
    (operation) => isExclusive(operation) && !isCarriedBySecret(view.snapshot, operation),
  );
  return exclusive.find(({ status }) => status?.phase === 'Running') ?? exclusive[0];
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
  const active = findActiveOperation(view);
  const begun = active?.status?.phase === 'Running' && active.spec.type === type && active.spec.cancel !== true;
  return begun ? active : undefined;
};
