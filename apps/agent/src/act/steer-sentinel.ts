/**
 * Makes a Sentinel choose well before it is told to fail over. It chooses by what it heard last, seconds ago, and among
 * all replicas that it does not hold down yet. So where the replicas are not level it is made to ask them anew first, or
 * it could promote one that lacks the last writes. And where it knows one whose pod is gone (in the last five seconds,
 * beside the primary's) the furthest of those that answer is preferred, or it could choose the one that is gone: then
 * nothing is promoted before it tries again, twice its failover-timeout later (seen: 32 s). A preference outweighs what is
 * further, so none is given while a pod that exists is silent, or the one that is gone was further: it may hold more,
 * and that is for the Sentinels to judge.
 */
import { REPLICA_PRIORITY, SENTINEL_INFO_PERIOD_MS } from '#domain';
import type { RedisLink, ReplicaView, SentinelLink } from '#redis';
import { RefusedError, throwIfRefused } from './execution-context.ts';
import { pollUntil } from './poll-until.ts';
import { PREFERRED, isChoosable } from './prefer-target.ts';

const POLL_MS = 20;
const FAST_INFO_MS = 100;
/** From the moment when it holds the primary down a Sentinel asks once a second, whatever its period is. */
const FRESH_MS = 2_500;

export interface Follower {
  readonly link: RedisLink;
  readonly runId: string;
  readonly offsetBytes: number;
}

export interface Steering {
  readonly sentinel: SentinelLink;
  readonly masterName: string;
  readonly followers: readonly Follower[];
  /** Addresses of pods that exist and do not answer. */
  readonly silentHosts: readonly string[];
  readonly assertMayWrite: () => void;
}

/** Resolves once it is safe to tell the Sentinel; what it answers undoes the preparations, and never throws. */
export const steerSentinel = async (steering: Steering): Promise<() => Promise<void>> => {
  const { sentinel, masterName, followers, assertMayWrite } = steering;
  const furthest = findFurthest(followers);
  const isLevel = followers.every(({ offsetBytes }) => offsetBytes === furthest.offsetBytes);
  const mayErr = mayChooseInVain(await sentinel.replicaViews(masterName), steering, furthest);
  if (isLevel && !mayErr) return () => Promise.resolve();
  const undo = async (): Promise<void> => {
    await Promise.allSettled([
      sentinel.setInfoPeriod(SENTINEL_INFO_PERIOD_MS),
      ...(mayErr ? [furthest.link.configSet({ 'replica-priority': REPLICA_PRIORITY })] : []),
    ]);
  };
  try {
    assertMayWrite();
    if (mayErr) throwIfRefused(await furthest.link.configSet({ 'replica-priority': PREFERRED }));
    await askAnew(steering, mayErr ? furthest : undefined);
    return undo;
  } catch (error) {
    await undo();
    throw error;
  }
};

const findFurthest = ([first, ...rest]: readonly Follower[]): Follower => {
  if (first === undefined) throw new RefusedError('NO_REPLICA', 'No replica is left to be promoted.');
  return rest.reduce((best, one) => (one.offsetBytes > best.offsetBytes ? one : best), first);
};

const isOf = ({ host, port }: ReplicaView, { link }: Follower): boolean => host === link.host && port === link.port;

/** It could choose one that is gone, and nobody else could be further than `furthest`. */
const mayChooseInVain = (
  views: readonly ReplicaView[],
  { followers, silentHosts }: Steering,
  furthest: Follower,
): boolean => {
  const others = views.filter((view) => isChoosable(view) && !followers.some((follower) => isOf(view, follower)));
  const mayBeFurther = ({ host, offsetBytes }: ReplicaView): boolean =>
    silentHosts.includes(host) || offsetBytes > furthest.offsetBytes;
  return others.length > 0 && !others.some(mayBeFurther);
};

const askAnew = async ({ sentinel, masterName, followers }: Steering, preferred?: Follower): Promise<void> => {
  const startedAtMs = performance.now();
  throwIfRefused(await sentinel.setInfoPeriod(FAST_INFO_MS));
  const isFresh = await pollUntil({ withinMs: FRESH_MS, everyMs: POLL_MS }, async () => {
    const views = await sentinel.replicaViews(masterName);
    const ageMs = performance.now() - startedAtMs;
    const isKnown = (follower: Follower): boolean =>
      views.some(
        (view) =>
          isOf(view, follower) &&
          view.infoAgeMs < ageMs &&
          (follower !== preferred || view.priority === Number(PREFERRED)),
      );
    return followers.every(isKnown) ? true : undefined;
  });
  if (isFresh === undefined) {
    throw new RefusedError('OFFSETS_UNKNOWN', 'Sentinel does not learn in time which replica is the furthest.');
  }
};
