/**
 * SENTINEL FAILOVER after a proven death. It does not ask whether the primary lives, and on a live one it lost 15 % of
 * the writes in a trial, so the proof is asked again right before, over connections of their own: the dead address still
 * refuses, this Sentinel names it and has quorum, and no replica says that its link is up. Once a replica was promoted the
 * others are sent to it: Sentinel does that too, but only after its next INFO, a second in which a primary that counts
 * its replicas takes no writes.
 */
import { REDIS_PORT } from '#domain';
import { RESOURCE } from '#kube';
import { WITNESS_TIMEOUT_MS, isRefused } from '#redis';
import type { ActionOf, ExecutionContext, Executor } from './execution-context.ts';
import { RefusedError, requireLink, throwIfRefused } from './execution-context.ts';
import { pollUntil } from './poll-until.ts';
import { steerSentinel } from './steer-sentinel.ts';
import type { Follower } from './steer-sentinel.ts';

const POLL_MS = 20;
/** Sentinel promotes within some 200 ms; whatever takes longer is left to it and to the next pass. */
const PROMOTION_MS = 2_500;

export const executeFailOverBySentinel: Executor<'FailOverBySentinel'> = async (action, context) => {
  const sentinel = requireLink(context.findSentinel(action.sentinelPod), action.sentinelPod);
  const replicas = action.replicas.map(({ pod, runId }) => ({
    link: requireLink(context.findRedis(pod), pod),
    runId,
  }));
  const { masterName, expectPrimaryHost, silentHosts } = action;
  const { assertMayWrite } = context;
  const seen = await readUnlinked(replicas);
  const undo = await steerSentinel({ sentinel, masterName, followers: seen, silentHosts, assertMayWrite });
  const command = async (): Promise<readonly [Follower | undefined, readonly Follower[]]> => {
    // After the steering, which may have taken seconds: a process that was restarted meanwhile is no dead one.
    const [, followers] = await Promise.all([assertStillDead(action, context), readUnlinked(replicas)]);
    assertMayWrite();
    throwIfRefused(await sentinel.failOver(masterName, { host: expectPrimaryHost, port: REDIS_PORT }));
    return [await untilPromoted(followers), followers];
  };
  const [promoted, followers] = await command().finally(undo);
  if (promoted === undefined) return;
  assertMayWrite();
  // It may have been fenced before it was a replica: a pause goes on through both changes of role.
  await promoted.link.resumeWrites();
  await Promise.all(followers.map((follower) => follow(follower, promoted, expectPrimaryHost)));
};

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

const readUnlinked = (replicas: readonly Omit<Follower, 'offsetBytes'>[]): Promise<readonly Follower[]> =>
  Promise.all(
    replicas.map(async ({ link, runId }) => {
      const facts = await link.probe();
      const at = `The replica at ${link.host}`;
      if (!facts.reachable) throw new RefusedError('REPLICA_SILENT', `${at} does not answer any more.`);
      if (facts.runId !== runId) throw new RefusedError('RESTARTED', `${at} restarted.`);
      if (facts.linkUp === true) throw new RefusedError('LINK_UP', `${at} is linked to its primary.`);
      return { link, runId, offsetBytes: facts.offsetBytes };
    }),
  );

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
