import { describe, expect, it } from 'vitest';
import type { Plan, PodSnapshot, RedisClusterSnapshot } from '#domain';
import {
  NOW_MS,
  drawSettled,
  silentFacts,
  waitingFacts,
  withFacts,
  withPod,
  withResource,
  withoutRecord,
} from '#testing';
import { planRedisCluster } from './plan-redis-cluster.ts';
import { DEFAULT_PLANNER_POLICY } from './planner-input.ts';

const plan = (snapshot: RedisClusterSnapshot): Plan =>
  planRedisCluster({ snapshot, nowMs: NOW_MS, policy: DEFAULT_PLANNER_POLICY });
const condition = (made: Plan, type: string) => made.status.conditions.find((one) => one.type === type);

const PERSISTENT = { storage: { type: 'PersistentVolume', size: '1Gi' } } as const;
const settled = drawSettled(PERSISTENT);
const names = settled.pods.filter((pod) => pod.component === 'redis').map((pod) => pod.name);
const [P0, P1, P2] = names as [string, string, string];

const notReadySince = (ms: number): RedisClusterSnapshot['resource']['status'] => ({
  phase: 'Creating',
  conditions: [
    {
      type: 'Ready',
      status: 'False',
      reason: 'WaitingForPods',
      message: '',
      observedGeneration: 1,
      lastTransitionTime: new Date(NOW_MS - ms).toISOString(),
    },
  ],
});

/** Being created, and no pod starts. */
const stuck = (change: Partial<PodSnapshot>, notReadyMs = 0): RedisClusterSnapshot => {
  const silent = withFacts(withoutRecord(settled), { redis: names.map(() => silentFacts()) });
  const creating = withResource(silent, { status: notReadySince(notReadyMs) });
  return names.reduce((snapshot, name) => withPod(snapshot, name, { ready: false, ...change }), creating);
};

const withPendingClaims = (snapshot: RedisClusterSnapshot): RedisClusterSnapshot => ({
  ...snapshot,
  children: snapshot.children.map((child) =>
    child.kind === 'PersistentVolumeClaim'
      ? { ...child, spec: { storageClassName: 'none-such' }, status: { phase: 'Pending' } }
      : child,
  ),
});

describe('pods that do not start while the data set is created', () => {
  it.each([
    ['Unschedulable: 0/2 nodes are available.', 'cannot be scheduled: 0/2 nodes are available.'],
    ['ErrImagePull: rpc error', 'cannot start: ErrImagePull of redis:nope.'],
    ['CreateContainerConfigError: no secret', 'cannot start: CreateContainerConfigError: no secret.'],
  ])('%s is told beside what is waited for, pods of one reason together', (waitingReason, sentence) => {
    const made = plan(stuck({ waitingReason, image: 'redis:nope' }));
    expect(made.status.phase).toBe('Creating');
    for (const type of ['Ready', 'Reconciling']) {
      expect(condition(made, type)?.reason).toBe('WaitingForPods');
      expect(condition(made, type)?.message).toContain(` ${P0}, ${P1}, ${P2} ${sentence}`);
    }
  });

  it('names a volume claim that no storage class serves', () => {
    const waitingReason = 'Unschedulable: unbound PersistentVolumeClaims';
    expect(condition(plan(withPendingClaims(stuck({ waitingReason }))), 'Ready')?.message).toContain(
      'cannot be scheduled: unbound PersistentVolumeClaims (its volume claim is Pending, storage class none-such).',
    );
  });

  it.each([
    ['ErrImagePull: rpc error', 'ImagePullBackOff: Back-off pulling image "redis:nope"'],
    ['CrashLoopBackOff: back-off 10s restarting', 'CrashLoopBackOff: back-off 20s restarting'],
  ])('gives one status for %s and for %s', (first, second) => {
    const image = 'redis:nope';
    const made = plan(stuck({ waitingReason: first, image }));
    expect(plan(stuck({ waitingReason: second, image })).status).toEqual(made.status);
  });

  it('says nothing of pods that are only slow', () => {
    expect(condition(plan(stuck({}, 600_000)), 'Stalled')?.status).toBe('False');
    expect(condition(plan(stuck({})), 'Ready')?.message).toBe(`Waiting for ${P0}, ${P1}, ${P2} to answer.`);
  });

  it('is Stalled once it lasts, and not for a restart that Kubernetes is about to make', () => {
    const waitingReason = 'Unschedulable: 0/2 nodes';
    const bound = DEFAULT_PLANNER_POLICY.stalledAfterMs;
    expect(condition(plan(stuck({ waitingReason }, bound - 1)), 'Stalled')?.status).toBe('False');
    expect(condition(plan(stuck({ waitingReason }, bound)), 'Stalled')).toMatchObject({
      status: 'True',
      reason: 'PodsCannotStart',
      message: `${P0}, ${P1}, ${P2} cannot be scheduled: 0/2 nodes.`,
    });
    const crash = { waitingReason: 'CrashLoopBackOff: back-off 10s', restarts: 1 };
    expect(condition(plan(stuck(crash, bound)), 'Stalled')?.status).toBe('False');
    expect(condition(plan(stuck({ ...crash, restarts: 5 }, bound)), 'Stalled')?.status).toBe('True');
  });
});

describe('one pod of a data set that serves', () => {
  it('is told once, with its reason', () => {
    const silent = { ...settled, redis: { ...settled.redis, [P1]: silentFacts() } };
    const broken = withPod(silent, P1, { ready: false, waitingReason: 'Unschedulable: 0/2 nodes' });
    const made = plan(withResource(broken, { status: { phase: 'Ready' } }));
    expect(condition(made, 'Ready')?.message).toBe(`Not ready: ${P1} (cannot be scheduled: 0/2 nodes).`);
  });
});

describe('a primary that was killed and is in back-off', () => {
  const replication = drawSettled({ ...PERSISTENT, mode: 'Replication' });
  const unlinked = [silentFacts(), ...[P1, P2].map((name) => waitingFacts(name, { keys: 100 }))];
  const served = withResource(withFacts(replication, { redis: unlinked }), { status: { phase: 'Ready' } });
  const crashed = (restarts: number, backOff = '10s') =>
    withPod(served, P0, { ready: false, restarts, waitingReason: `CrashLoopBackOff: back-off ${backOff} restarting` });

  it('is Degraded with the reason at every step of a young back-off, and asks nobody', () => {
    const made = plan(crashed(1));
    expect(made.status.phase).toBe('Degraded');
    expect(condition(made, 'ActionRequired')?.status).toBe('False');
    expect(condition(made, 'Ready')).toMatchObject({ status: 'False', reason: 'WaitingForPods' });
    expect(condition(made, 'Ready')?.message).toContain(`${P0} keeps ending: CrashLoopBackOff`);
    expect(plan(crashed(4, '80s')).status).toEqual(made.status);
  });

  it('asks a person when it goes on, or when nothing would start it again', () => {
    expect(condition(plan(crashed(5)), 'ActionRequired')).toMatchObject({ status: 'True', reason: 'PodsMissing' });
    const unpulled = withPod(served, P0, { ready: false, restarts: 1, waitingReason: 'ErrImagePull: rpc error' });
    expect(condition(plan(unpulled), 'ActionRequired')?.status).toBe('True');
  });
});
