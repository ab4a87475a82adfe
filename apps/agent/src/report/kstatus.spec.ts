import { describe, expect, it } from 'vitest';
import { ANNOTATION, CONDITION_TYPES, SPEC_LIMITS } from '#domain';
import type { KubeObject, PlanResult, RedisClusterSnapshot, RedisClusterSpec, RedisClusterStatus } from '#domain';
import { DEFAULT_PLANNER_POLICY, planRedisCluster } from '#planner';
import { NOW_MS, computeKstatus, drawSettled, silentFacts, withPod, withResource, type KstatusResult } from '#testing';
import { mergeStatus } from './merge-status.ts';

const NOTHING: PlanResult = { done: [] };

const report = (
  snapshot: RedisClusterSnapshot,
  { last = snapshot.resource.status, nowMs = NOW_MS, failuresBefore = 0, result = NOTHING } = {},
): RedisClusterStatus => {
  const resource = last === undefined ? snapshot.resource : { ...snapshot.resource, status: last };
  const picture = { ...snapshot, resource, observedAtMs: nowMs };
  const plan = planRedisCluster({ snapshot: picture, nowMs, policy: DEFAULT_PLANNER_POLICY });
  const now = new Date(nowMs).toISOString();
  return mergeStatus({ resource, last, plan, result, failuresBefore, now });
};

const settled = drawSettled();
const [firstPod] = settled.pods;
const stuckImage: RedisClusterSnapshot = {
  ...settled,
  pods: settled.pods.map((pod) =>
    pod === firstPod ? { ...pod, ready: false, running: false, waitingReason: 'ErrImagePull: no such image' } : pod,
  ),
  redis: {
    ...settled.redis,
    ...(firstPod && { [firstPod.name]: { reachable: false, reason: 'REFUSED', message: 'refused' } as const }),
  },
};
const withoutAnswer = (snapshot: RedisClusterSnapshot): RedisClusterSnapshot => {
  const last = snapshot.pods.findLast(({ component }) => component === 'redis')?.name ?? '';
  return withPod({ ...snapshot, redis: { ...snapshot.redis, [last]: silentFacts() } }, last, { ready: false });
};
const failure = {
  action: { kind: 'AddFinalizer', reason: 'x', message: 'x', disruptive: false },
  reason: 'AddFinalizerFailed',
  message: 'The API server refused it.',
} as const;

const DURABLE = { mode: 'Replication', storage: { type: 'PersistentVolume', size: '1Gi' } } as const;

/** The settled picture of a spec, edited: nothing of what is asked for has been done yet. */
const edited = (spec: Partial<RedisClusterSpec>, of: RedisClusterSnapshot = drawSettled(DURABLE)) =>
  withResource(of, { spec, metadata: { generation: 1 } });

const withReplicas = (snapshot: RedisClusterSnapshot, replicas: number): RedisClusterSnapshot => ({
  ...snapshot,
  children: snapshot.children.map((child) =>
    child.kind === 'StatefulSet' ? { ...child, spec: { ...(child['spec'] as object), replicas } } : child,
  ),
});
/** As the hibernation leaves it: no pod, and StatefulSets of none. */
const asleep: RedisClusterSnapshot = {
  ...withReplicas(drawSettled({ ...DURABLE, hibernation: true }), 0),
  pods: [],
  redis: {},
  sentinels: {},
};
const FENCE = String(SPEC_LIMITS.maxSize + 1);
const withFence = (snapshot: RedisClusterSnapshot): RedisClusterSnapshot => ({
  ...snapshot,
  redis: Object.fromEntries(
    Object.entries(snapshot.redis).map(([pod, facts]) => [
      pod,
      facts.reachable ? { ...facts, config: { ...facts.config, 'min-replicas-to-write': FENCE } } : facts,
    ]),
  ),
});
/** With what the planner applies to Kubernetes applied, and pods that have read it. */
const applied = (snapshot: RedisClusterSnapshot): RedisClusterSnapshot => {
  const { actions } = planRedisCluster({ snapshot, nowMs: NOW_MS, policy: DEFAULT_PLANNER_POLICY });
  const objects = actions.flatMap((action) => (action.kind === 'ApplyChild' ? [action.object] : []));
  const isReplaced = ({ kind, metadata }: KubeObject): boolean =>
    objects.some((object) => object.kind === kind && object.metadata.name === metadata.name);
  const config = objects.find(({ metadata }) => metadata.name.endsWith('-config'));
  const annotations = { [ANNOTATION.settings]: config?.metadata.annotations?.[ANNOTATION.rendered] ?? '' };
  return {
    ...snapshot,
    children: [...snapshot.children.filter((child) => !isReplaced(child)), ...objects],
    pods: snapshot.pods.map((pod) => ({ ...pod, annotations })),
  };
};
const fenced = applied(withFence(drawSettled({ ...DURABLE, fencing: { enabled: true } })));
const unlinked: RedisClusterSnapshot = {
  ...fenced,
  redis: Object.fromEntries(
    Object.entries(fenced.redis).map(([pod, facts], index) => {
      if (index > 0 && facts.reachable) return [pod, { ...facts, linkUp: false, linkDownSinceMs: 60_000 }];
      return [pod, { reachable: false, reason: 'REFUSED', message: '', exit: { closedAtMs: 1, refusedTwice: true } }];
    }),
  ),
};

/** Every data pod is of an older template than the StatefulSet. */
const outdated = (spec: Partial<RedisClusterSpec>, disruptionsElsewhere = 0): RedisClusterSnapshot => {
  const settledHere = drawSettled({ ...DURABLE, ...spec });
  return {
    ...settledHere,
    disruptionsElsewhere,
    children: settledHere.children.map((child) =>
      child.kind === 'StatefulSet' ? { ...child, status: { updateRevision: 'new' } } : child,
    ),
    pods: settledHere.pods.map((pod) => ({ ...pod, controllerRevision: 'old' })),
  };
};
const firstStuck = (snapshot: RedisClusterSnapshot): RedisClusterSnapshot => {
  const last = snapshot.pods.at(-1)?.name ?? '';
  return {
    ...snapshot,
    pods: snapshot.pods.map((pod) =>
      pod.name === last
        ? { ...pod, controllerRevision: 'new', ready: false, waitingReason: 'ErrImagePull: none' }
        : pod,
    ),
    redis: { ...snapshot.redis, [last]: { reachable: false, reason: 'REFUSED', message: '' } },
  };
};
const atWork = (snapshot: RedisClusterSnapshot): RedisClusterStatus => report(snapshot, { last: report(settled) });

const PICTURES: readonly (readonly [name: string, status: () => RedisClusterStatus, expected: KstatusResult])[] = [
  ['settled', () => report(settled), 'Current'],
  ['new, without a pod', () => report({ ...settled, pods: [], redis: {}, sentinels: {} }), 'InProgress'],
  ['a pod that cannot start, just now', () => report(stuckImage, { last: report(settled) }), 'InProgress'],
  [
    'a pod that cannot start, for minutes',
    () => report(stuckImage, { last: report(stuckImage), nowMs: NOW_MS + 200_000 }),
    'Failed',
  ],
  ['suspended', () => report(drawSettled({ suspend: true })), 'Current'],
  [
    'a spec that is refused',
    () => report(withResource(settled, { spec: { ...settled.resource.spec, size: 1 } })),
    'Failed',
  ],
  ['an action that fails once', () => report(settled, { result: { done: [], failure } }), 'Current'],
  [
    'an action that fails again and again',
    () => report(settled, { result: { done: [], failure }, failuresBefore: 5 }),
    'Failed',
  ],
  ['hibernated', () => report(asleep), 'Current'],
  ['falling asleep', () => atWork(edited({ hibernation: true })), 'InProgress'],
  ['waking', () => report(edited({ hibernation: false }, asleep), { last: report(asleep) }), 'InProgress'],
  ['fenced', () => report(fenced), 'Current'],
  ['being fenced', () => atWork(edited({ fencing: { enabled: true } })), 'InProgress'],
  [
    'the fence being lifted',
    () => report(edited({ fencing: { enabled: false } }, fenced), { last: report(fenced) }),
    'InProgress',
  ],
  ['fenced, and a pod cannot be asked', () => report(withoutAnswer(fenced), { last: report(fenced) }), 'InProgress'],
  [
    'fenced without a primary: the fence holds the promotion',
    () => report(unlinked, { last: report(fenced) }),
    'Failed',
  ],
  ['pods to be restarted, and being so', () => atWork(outdated({})), 'InProgress'],
  ['… held: paused', () => atWork(outdated({ updateStrategy: { paused: true } })), 'Current'],
  ['… held: a canary of none', () => atWork(outdated({ updateStrategy: { partition: 0 } })), 'Current'],
  [
    '… held: no window open',
    () => atWork(outdated({ maintenanceWindows: [{ start: '23:00', duration: '1h' }] })),
    'Current',
  ],
  ['… waiting for others to end theirs', () => atWork(outdated({}, 2)), 'InProgress'],
  [
    '… stalled at the first pod, its turn given back',
    () => report(firstStuck(outdated({})), { last: atWork(firstStuck(outdated({}))), nowMs: NOW_MS + 100_000 }),
    'Failed',
  ],
];

describe('kstatus of what is reported', () => {
  it.each(PICTURES)('%s', (_, status, expected) => {
    const made = status();
    expect(computeKstatus({ metadata: { generation: 1 }, status: made })).toBe(expected);
  });

  it('has each condition once, of the generation that was looked at, and never Ready beside Reconciling or Stalled', () => {
    for (const [name, status] of PICTURES) {
      const { conditions = [] } = status();
      expect(conditions.map(({ type }) => type).sort(), name).toEqual([...CONDITION_TYPES].sort());
      expect(
        conditions.every(({ observedGeneration }) => observedGeneration === 1),
        name,
      ).toBe(true);
      const isTrue = (type: string): boolean => conditions.some((each) => each.type === type && each.status === 'True');
      expect(isTrue('Reconciling') && (isTrue('Stalled') || isTrue('Ready')), name).toBe(false);
    }
  });

  it.each([
    ['settled', settled],
    ['stuck', stuckImage],
  ])('stands still while the world does (%s): the same picture later gives the same status', (_, picture) => {
    const once = report(picture, { last: report(picture), nowMs: NOW_MS + 200_000 });
    expect(report(picture, { last: once, nowMs: NOW_MS + 500_000 })).toEqual(once);
  });
});
