/** What an executor is given besides its action. Executors keep nothing between calls. */
import { FIELD_MANAGER } from '#domain';
import type { Action, ActionKind, RedisClusterObject, RejectedDirective } from '#domain';
import type { KubeClient } from '#kube';
import type { ChildOwner, ObjectNames } from '#manifests';
import type { AclExpectation, CommandOutcome, RedisLink, SentinelLink } from '#redis';

export interface ExecutionContext {
  readonly client: KubeClient;
  readonly resource: RedisClusterObject;
  readonly namespace: string;
  /** Name, hash and render version that each child of this data set carries. */
  readonly owner: ChildOwner;
  readonly names: ObjectNames;
  /** Call right before each write: throws FencedError when the Lease is too old to act on (03 rule 15). */
  readonly assertMayWrite: () => void;
  /** The standing connection that the pass was observed by. */
  readonly findRedis: (pod: string) => RedisLink | undefined;
  readonly findSentinel: (pod: string) => SentinelLink | undefined;
  /** The next pass reads this Secret anew. */
  readonly forgetSecret: (name: string) => void;
  /** Whom a server should let in, from the values of the credentials Secret. */
  readonly aclExpectation: (
    resource: RedisClusterObject,
    component: 'redis' | 'sentinel',
    values: Readonly<Record<string, string>>,
  ) => AclExpectation;
  /** A directive that a server refused or changed, for the status; given by executePlan. */
  readonly noteRejectedConfig: (rejected: RejectedDirective) => void;
}

/**
 * How every write to Kubernetes is sent. The time-out is the part of the Lease's duration that is left when the fence
 * closes: a request that hangs must not be carried out when another agent may already lead.
 */
export const WRITE = { fieldManager: FIELD_MANAGER.operator, timeoutMs: 5_000 } as const;

export type ActionOf<K extends ActionKind> = Extract<Action, { readonly kind: K }>;
/** Idempotent: resolves when the action is done or was done already; throws otherwise. */
export type Executor<K extends ActionKind> = (action: ActionOf<K>, context: ExecutionContext) => Promise<void>;

/** The Lease is too old: another agent may be acting. Nothing was written. */
export class FencedError extends Error {
  override readonly name = 'FencedError';
  constructor() {
    super('The Lease was not renewed in time, so nothing is written until it is.');
  }
}

/** Code of the refusal where another agent owns the namespace by now. */
export const NOT_OWNER = 'NOT_OWNER';

/** A precondition, read again right before the write, no longer holds. Nothing was written; the next pass plans anew. */
export class RefusedError extends Error {
  override readonly name = 'RefusedError';
  readonly code: string;
  constructor(code: string, message: string) {
    super(message);
    this.code = code;
  }
}

export const throwIfRefused = (outcome: CommandOutcome): void => {
  if (outcome.outcome === 'REFUSED') throw new RefusedError(outcome.code, outcome.message);
};

/** The connection, or a refusal: an executor never opens one to a pod that the snapshot did not see. */
export const requireLink = <L>(link: L | undefined, pod: string): L => {
  if (link === undefined) throw new RefusedError('NO_CONNECTION', `There is no connection to pod ${pod}.`);
  return link;
};
