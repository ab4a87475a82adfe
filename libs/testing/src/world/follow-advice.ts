/**
 * The person of the story: does what the condition ActionRequired says, and nothing else. Writes that only the side he
 * gives up holds are his decision, not the planner's. False when nobody was asked, or for something he cannot mend.
 */
import type { Plan } from '#domain';
import { deletePod } from './run-pods.ts';
import { demoteTo, promote } from './run-redis.ts';
import { makeId, podsOf, redisOf, tell } from './world-state.ts';
import type { SimPod, SimRedis, World } from './world-state.ts';

export const followAdvice = (world: World, plan: Plan | undefined, asked: string[]): boolean => {
  const condition = plan?.status.conditions.find(({ type, status }) => type === 'ActionRequired' && status === 'True');
  const advice = condition === undefined ? undefined : ADVICE[condition.reason];
  if (condition === undefined || advice === undefined) return false;
  asked.push(condition.reason);
  tell(world, `a person is asked: ${condition.reason}: ${condition.message}`);
  advice(world, plan?.status.currentPrimary);
  return true;
};

type Advice = (world: World, currentPrimary: string | undefined) => void;

const mastersOf = (world: World): readonly SimPod[] =>
  podsOf(world, 'redis').filter((pod) => redisOf(pod)?.role === 'master');

const giveUp = (world: World, redis: SimRedis | undefined): void => {
  const others = podsOf(world, 'redis')
    .map(redisOf)
    .filter((other) => other !== redis);
  for (const write of redis?.writes ?? []) {
    if (others.some((other) => other?.role === 'master' && other.writes.has(write))) continue;
    if (world.acknowledged.delete(write)) world.excused.add(write);
  }
};

const deleteRivals: Advice = (world, currentPrimary) => {
  for (const pod of mastersOf(world).filter(({ name }) => name !== currentPrimary)) {
    giveUp(world, redisOf(pod));
    deletePod(world, pod);
  }
};

/** Takes the one that runs as primary for the right one. */
const followMaster: Advice = (world, currentPrimary) => {
  const [master] = mastersOf(world);
  const recorded = redisOf(world.pods.get(currentPrimary ?? ''));
  if (master === undefined || recorded === undefined) return deleteRivals(world, currentPrimary);
  giveUp(world, recorded);
  demoteTo(world, recorded, master.ip);
  world.chosen = master.name;
  tell(world, `a person makes ${currentPrimary} a replica of ${master.name}`);
};

/** Gives up every copy that is not the primary's, and the volume with it. */
const deleteOthers: Advice = (world, currentPrimary) => {
  for (const pod of podsOf(world, 'redis').filter(({ name }) => name !== currentPrimary)) {
    giveUp(world, redisOf(pod));
    redisOf(pod)?.writes.clear();
    deletePod(world, pod);
  }
};

/** REPLICAOF NO ONE where the newest writes are. */
const promoteFullest: Advice = (world) => {
  const [fullest] = [...podsOf(world, 'redis')].sort((a, b) => countWrites(b) - countWrites(a));
  const redis = redisOf(fullest);
  if (fullest === undefined || redis === undefined) return;
  promote(world, redis, makeId(world, 'history'));
  world.chosen = fullest.name;
  tell(world, `a person makes ${fullest.name} the primary`);
};

const countWrites = (pod: SimPod): number => redisOf(pod)?.writes.size ?? 0;

const ADVICE: Readonly<Record<string, Advice>> = {
  TwoPrimaries: deleteRivals,
  UnrecordedPrimary: followMaster,
  AttachingWouldErase: deleteOthers,
  HandoverInDoubt: promoteFullest,
  RecordInDoubt: promoteFullest,
};
