import { describe, expect, it } from 'vitest';
import type { Plan, RedisClusterSnapshot } from '#domain';
import { NOW_MS, drawSettled, podIp, sentinelFacts, silentFacts, withFacts, withPod, withResource } from '#testing';
import { planRedisCluster } from '../plan-redis-cluster.ts';
import { DEFAULT_PLANNER_POLICY } from '../planner-input.ts';

const plan = (snapshot: RedisClusterSnapshot): Plan =>
  planRedisCluster({ snapshot, nowMs: NOW_MS, policy: DEFAULT_PLANNER_POLICY });

/** Of so many that there are, those of `silent` do not run; the spec asks for `goal`. */
const scaling = (count: number, goal: number, silent: readonly number[], seesOthers: number): RedisClusterSnapshot => {
  const snapshot = drawSettled({ sentinel: { replicas: count } });
  const knows = { replicaHosts: [podIp(1), podIp(2)], knownReplicas: 2, otherSentinels: seesOthers };
  const sentinels = Array.from({ length: count }, (_, ordinal) =>
    silent.includes(ordinal) ? silentFacts('NO_ADDRESS') : sentinelFacts(podIp(0), knows),
  );
  const seen = withFacts(snapshot, { sentinels: sentinels });
  const named = seen.pods.filter((pod) => pod.component === 'sentinel' && silent.includes(pod.ordinal));
  const pending = named.reduce((picture, { name }) => withPod(picture, name, { ready: false, phase: 'Pending' }), seen);
  return withResource(pending, { spec: { ...snapshot.resource.spec, sentinel: { replicas: goal } } });
};

const renderedSentinels = (made: Plan): readonly unknown[] =>
  made.actions.flatMap((action) =>
    action.kind === 'ApplyChild' && action.object.kind === 'StatefulSet'
      ? [(action.object['spec'] as { replicas: number }).replicas]
      : [],
  );

describe('step-sentinels: on the way down', () => {
  it('one that never started is taken back: those that stay outvote it', () => {
    expect(renderedSentinels(plan(scaling(4, 3, [3], 2)))).toEqual([3]);
  });

  it('two of five on a lost node go one after the other', () => {
    expect(renderedSentinels(plan(scaling(5, 3, [3, 4], 4)))).toEqual([4]);
  });

  it.each([
    ['one that stays is silent', scaling(4, 3, [1], 3)],
    ['those that stay do not see each other', scaling(4, 3, [3], 1)],
    ['one that is gone is still remembered', scaling(4, 3, [3], 4)],
    ['up: one of those that are there is silent', scaling(4, 5, [3], 2)],
  ])('waits where %s', (_, snapshot) => {
    const made = plan(snapshot);
    expect(renderedSentinels(made)).toEqual([]);
    expect(made.status.conditions.find(({ type }) => type === 'Reconciling')?.status).toBe('True');
  });
});
