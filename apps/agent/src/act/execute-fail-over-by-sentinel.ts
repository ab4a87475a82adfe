/**
 * SENTINEL FAILOVER after a proven death. It does not ask whether the primary lives, and on a live one it lost 15 % of
 * the writes in a trial, so the proof is asked again right before, over connections of their own: the dead address still
 * refuses, this Sentinel names it and has quorum, and no replica says that its link is up. Once a replica was promoted the
 * others are sent to it: Sentinel does that too, but only after its next INFO, a second in which a primary that counts
 * its replicas takes no writes.
 */
import { REDIS_PORT, SENTINEL_INFO_PERIOD_MS } from '#domain';
import { RESOURCE } from '#kube';
import { WITNESS_TIMEOUT_MS, isRefused } from '#redis';
import type { RedisLink, SentinelLink } from '#redis';
import type { ActionOf, ExecutionContext, Executor } from './execution-context.ts';
import { RefusedError, requireLink, throwIfRefused } from './execution-context.ts';
import { pollUntil } from './poll-until.ts';

const POLL_MS = 20;
/** Sentinel promotes within some 200 ms; whatever takes longer is left to it and to the next pass. */
const PROMOTION_MS = 2_500;

/**
 * How long Sentinel may take to learn how far each replica is, where they differ. From the moment when it holds the
 * primary down it asks every second, whatever its period is.
 */
const FRESH_MS = 2_500;
const FAST_INFO_MS = 100;

export const executeFailOverBySentinel: Executor<'FailOverBySentinel'> = async (action, context) => {
  const sentinel = requireLink(context.findSentinel(action.sentinelPod), action.sentinelPod);
  const followers = action.replicas.map(({ pod, runId }) => ({
    link: requireLink(context.findRedis(pod), pod),
    runId,
  }));
  const [, offsets] = await Promise.all([assertStillDead(action, context), readUnlinkedOffsets(followers)]);
  const level = offsets.every((offset) => offset === offsets[0]);
  context.assertMayWrite();
  const promoted = await tellSentinel({ sentinel, followers, action, level });
  if (promoted === undefined) return;
  context.assertMayWrite();
  await Promise.all(followers.map((follower) => follow(follower, promoted, action.expectPrimaryHost)));
};

const tellSentinel = async ({
  sentinel,
  followers,
  action: { masterName, expectPrimaryHost },
  level,
}: {
  readonly sentinel: SentinelLink;
  readonly followers: readonly Follower[];
  readonly action: ActionOf<'FailOverBySentinel'>;
  readonly level: boolean;
}): Promise<Follower | undefined> => {
  try {
    if (!level) await tellOffsets(sentinel, masterName, followers);
    throwIfRefused(await sentinel.failOver(masterName, { host: expectPrimaryHost, port: REDIS_PORT }));
    return await untilPromoted(followers);
  } finally {
    if (!level) await sentinel.setInfoPeriod(SENTINEL_INFO_PERIOD_MS);
  }
};

/**
 * Sentinel chooses by offsets that may be ten seconds old. Where the replicas are not level it is made to ask them anew
 * first, or it could promote the one that lacks the last writes.
 */
const tellOffsets = async (sentinel: SentinelLink, name: string, followers: readonly Follower[]): Promise<void> => {
  const startedAtMs = performance.now();
  throwIfRefused(await sentinel.setInfoPeriod(FAST_INFO_MS));
  const isFresh = await pollUntil({ withinMs: FRESH_MS, everyMs: POLL_MS }, async () => {
    const views = await sentinel.replicaViews(name);
    const ageMs = performance.now() - startedAtMs;
    const knows = (host: string): boolean => views.some((view) => view.host === host && view.infoAgeMs < ageMs);
    return followers.every(({ link }) => knows(link.host)) ? true : undefined;
  });
  if (isFresh === undefined) {
    throw new RefusedError('OFFSETS_UNKNOWN', 'Sentinel does not learn in time which replica is the furthest.');
  }
};

interface Follower {
  readonly link: RedisLink;
  readonly runId: string;
}

const assertStillDead = async (
  { proof, deadPod, expectPrimaryHost }: ActionOf<'FailOverBySentinel'>,
  { client, namespace }: ExecutionContext,
): Promise<void> => {
  if (proof === 'EXIT') {
    const dead = await isRefused({ host: expectPrimaryHost, port: REDIS_PORT, timeoutMs: WITNESS_TIMEOUT_MS });
    if (!dead) throw new RefusedError('NOT_DEAD', `${deadPod} does not refuse connections any more.`);
    return;
  }
  const pod = await client.find(RESOURCE.pod, { namespace, name: deadPod });
  const status = pod?.['status'] as { readonly podIP?: string } | undefined;
  if (status?.podIP === expectPrimaryHost) throw new RefusedError('NOT_DEAD', `${deadPod} has its address again.`);
};

const readUnlinkedOffsets = async (followers: readonly Follower[]): Promise<readonly number[]> => {
  const facts = await Promise.all(followers.map(({ link }) => link.probe()));
  return facts.map((fact, index) => {
    const host = followers[index]?.link.host ?? '';
    if (!fact.reachable) throw new RefusedError('REPLICA_SILENT', `The replica at ${host} does not answer any more.`);
    if (fact.runId !== followers[index]?.runId)
      throw new RefusedError('RESTARTED', `The replica at ${host} restarted.`);
    if (fact.linkUp === true) throw new RefusedError('LINK_UP', `The replica at ${host} is linked to its primary.`);
    return fact.offsetBytes;
  });
};

const untilPromoted = (followers: readonly Follower[]): Promise<Follower | undefined> =>
  pollUntil({ withinMs: PROMOTION_MS, everyMs: POLL_MS }, async () => {
    const facts = await Promise.all(followers.map(({ link }) => link.probe()));
    return followers[facts.findIndex((fact) => fact.reachable && fact.role === 'master')];
  });

/** Only one that still follows the dead address: Sentinel may have been faster. A refusal is left to Sentinel. */
const follow = async ({ link, runId }: Follower, promoted: Follower, deadHost: string): Promise<void> => {
  if (link === promoted.link) return;
  const facts = await link.probe();
  if (!facts.reachable || facts.role !== 'slave' || facts.masterHost !== deadHost || facts.linkUp === true) return;
  await link.replicaOf({ expectRunId: runId, primaryHost: promoted.link.host, primaryPort: REDIS_PORT });
};
