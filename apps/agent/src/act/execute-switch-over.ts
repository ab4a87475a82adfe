/**
 * The paused hand-over of a living primary (redis-engine 1.1.3). Decides nothing about who: it reads the preconditions
 * again, carries out the steps, and gives up with a reason when one is not reached in time. Invariant: writes go on
 * nowhere else before every linked replica has all that was acknowledged, and the old primary takes no write after it was
 * told to follow. It ends within 20 s. Killed in between it leaves a pause that ends by itself, or a pair of nodes that
 * the other rules bring together.
 */
import { HANDING_OVER } from '#domain';
import type { ReachableRedis, RedisLink } from '#redis';
import type { ActionOf, ExecutionContext, Executor } from './execution-context.ts';
import { RefusedError, requireLink } from './execution-context.ts';
import { switchOverByCommand } from './switch-over-by-command.ts';
import { switchOverBySentinel } from './switch-over-by-sentinel.ts';

/** The nodes of one hand-over, each with the connection that it was observed by. */
export interface Handover {
  readonly action: ActionOf<'SwitchOver'>;
  readonly context: ExecutionContext;
  readonly from: RedisLink;
  readonly to: RedisLink;
  /** The other linked replicas. */
  readonly others: readonly { readonly link: RedisLink; readonly runId: string }[];
}

export const executeSwitchOver: Executor<'SwitchOver'> = async (action, context) => {
  const handover: Handover = {
    action,
    context,
    from: requireLink(context.findRedis(action.from), action.from),
    to: requireLink(context.findRedis(action.to), action.to),
    others: action.replicas.flatMap(({ pod, runId }) => {
      const link = context.findRedis(pod);
      return link === undefined ? [] : [{ link, runId }];
    }),
  };
  if ((await readPrecondition(handover)) === 'DONE') return;
  await announce(handover.from, HANDING_OVER);
  try {
    await (action.method === 'SENTINEL' ? switchOverBySentinel(handover) : switchOverByCommand(handover));
  } finally {
    await announce(handover.from, '');
  }
};

/**
 * For the old primary's preStop, where its pod is being deleted: it waits for as long as this is said, and the word ends
 * with our process. Best effort: a server that is gone needs none.
 */
const announce = (link: RedisLink, name: string): Promise<void> => link.nameConnection(name).catch(() => undefined);

/** DONE when an earlier try, cut off after the hand-over, left both nodes as wanted. */
const readPrecondition = async ({ action, from, to }: Handover): Promise<'DONE' | 'READY'> => {
  const [old, next] = await Promise.all([askNode(from, action.from), askNode(to, action.to)]);
  if (old.runId !== action.fromRunId || next.runId !== action.toRunId || to.host !== action.toHost) {
    throw new RefusedError('RESTARTED', `${action.from} or ${action.to} is another process than was planned for.`);
  }
  if (next.role === 'master' && follows(old, to)) return 'DONE';
  const linked = follows(next, from) && next.linkUp === true && !next.syncInProgress;
  if (old.role === 'master' && linked) return 'READY';
  throw new RefusedError('NOT_LINKED', `${action.to} is not a linked replica of ${action.from} any more.`);
};

const askNode = async (link: RedisLink, pod: string): Promise<ReachableRedis> => {
  const facts = await link.probe();
  if (facts.reachable) return facts;
  throw new RefusedError('NOT_REACHABLE', `${pod} does not answer.`);
};

const follows = (facts: ReachableRedis, leader: RedisLink): boolean =>
  facts.role === 'slave' && facts.masterHost === leader.host && facts.masterPort === leader.port;
