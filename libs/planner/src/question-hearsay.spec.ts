import { describe, expect, it } from 'vitest';
import { ANNOTATION } from '#domain';
import type { Plan, RedisClusterSnapshot, RedisNodeFacts } from '#domain';
import { CURRENT_RENDER_VERSION } from '#manifests';
import {
  HISTORY,
  NOW_MS,
  drawSettled,
  masterFacts,
  podIp,
  replicaFacts,
  silentFacts,
  waitingFacts,
  withFacts,
  withPod,
  withResource,
  withoutRecord,
} from '#testing';
import { planRedisCluster } from './plan-redis-cluster.ts';
import { DEFAULT_PLANNER_POLICY } from './planner-input.ts';

const SPEC = { mode: 'Replication', storage: { type: 'PersistentVolume', size: '1Gi' } } as const;
const [P0, P1, P2] = drawSettled(SPEC).pods.map((pod) => pod.name) as [string, string, string];
const FORMER_ADDRESS = '10.9.9.9';

const plan = (snapshot: RedisClusterSnapshot): Plan =>
  planRedisCluster({ snapshot, nowMs: NOW_MS, policy: DEFAULT_PLANNER_POLICY });
const promoted = (made: Plan) => made.actions.flatMap((action) => (action.kind === 'PromotePod' ? [action.pod] : []));
const reasons = (made: Plan): readonly string[] => made.trail.map(({ reason }) => reason);
const askedOf = (made: Plan) => made.status.conditions.find(({ type }) => type === 'ActionRequired');

const named = (facts: readonly RedisNodeFacts[], confirmedAt = podIp(1), target?: string): RedisClusterSnapshot => {
  const status = {
    phase: 'Degraded',
    primaryTerm: 3,
    currentPrimary: P1,
    primaryVersion: '8.0.2',
    endpoints: { primaryAddress: `${confirmedAt}:6379` },
    ...(target === undefined ? {} : { targetPrimary: target }),
  } as const;
  return withResource(withFacts(drawSettled(SPEC), { redis: facts }), { status });
};
const back = (pod: string) => waitingFacts(pod, { keys: 100 });
const leftBy = (host: string) => replicaFacts(P2, host, { keys: 101, linkUp: false, linkDownSinceMs: 9_000 });

describe('the record is lost, and the status names the primary before the last', () => {
  const lost = (facts: readonly RedisNodeFacts[], confirmedAt?: string): Plan =>
    plan(withoutRecord(named(facts, confirmedAt)));

  it('it is not promoted beside a silent pod, which may have been primary since', () => {
    const made = lost([silentFacts(), back(P1), leftBy(podIp(0))]);
    expect(promoted(made)).toEqual([]);
    expect(reasons(made)).toContain('WaitingForPods');
  });

  it.each([
    ['another pod', podIp(0)],
    ['an address that nobody has any more', FORMER_ADDRESS],
  ])('a person decides when a pod with data has followed %s', (_name, host) => {
    const made = lost([back(P0), back(P1), leftBy(host)]);
    expect(promoted(made)).toEqual([]);
    expect(askedOf(made)).toMatchObject({ status: 'True', reason: 'RecordInDoubt' });
    expect(askedOf(made)?.message).toContain(`The status names ${P1}`);
  });

  it('a person decides when it has itself followed another', () => {
    const follower = { ...replicaFacts(P1, FORMER_ADDRESS), linkUp: false };
    expect(promoted(lost([back(P0), follower, back(P2)]))).toEqual([]);
  });

  it('who was linked until the named one ended proves nothing about a silent pod', () => {
    const closedAtMs = NOW_MS - 1_000;
    const dead = { ...silentFacts('REFUSED'), exit: { closedAtMs, refusedTwice: true } } as const;
    const linkedUntil = { ...leftBy(podIp(0)), linkDownSinceMs: 1_000 };
    expect(promoted(lost([silentFacts(), dead, linkedUntil]))).toEqual([]);
  });

  it.each([
    ['all of them have restarted', [back(P0), back(P1), back(P2)], podIp(1)],
    [
      'one has followed the address where it was confirmed',
      [back(P0), back(P1), leftBy(FORMER_ADDRESS)],
      FORMER_ADDRESS,
    ],
    [
      'the one that followed another is no further',
      [
        back(P0),
        { ...back(P1), replicationId: HISTORY, offsetBytes: 1_000 },
        { ...leftBy(podIp(0)), offsetBytes: 900 },
      ],
      podIp(1),
    ],
  ] as const)('it goes on by itself when %s', (_name, facts, confirmedAt) => {
    expect(promoted(lost(facts, confirmedAt))).toEqual([P1]);
  });
});

describe('the record names another than the one that was confirmed last', () => {
  const recorded = (facts: readonly RedisNodeFacts[], primaryPod: string): RedisClusterSnapshot => {
    const { record, ...snapshot } = named(facts);
    return { ...snapshot, record: { ...record, primaryTerm: 3, primaryPod } as never };
  };
  const silent = [silentFacts(), silentFacts(), leftBy(podIp(0))];

  it('the record is believed, whomever a replica has followed', () => {
    expect(promoted(plan(recorded([back(P0), back(P1), leftBy(podIp(0))], P1)))).toEqual([P1]);
  });

  it('the status names it as the target, with its term', () => {
    const { status } = plan(recorded(silent, P0));
    expect(status).toMatchObject({ currentPrimary: P1, targetPrimary: P0, primaryTerm: 3 });
    expect(plan(recorded(silent, P1)).status.targetPrimary).toBeUndefined();
  });

  it('but not once somebody else is confirmed', () => {
    const made = plan(recorded([masterFacts(P0), replicaFacts(P1, podIp(0)), replicaFacts(P2, podIp(0))], P2));
    expect(made.actions).toContainEqual(
      expect.objectContaining({ kind: 'WriteRecord', reason: 'PrimaryMoved' }) as unknown,
    );
    expect(made.status.currentPrimary).toBe(P0);
    expect(made.status.targetPrimary).toBeUndefined();
  });

  it('the one that takes over is the target in the very pass that hands over to it', () => {
    const facts = [replicaFacts(P0, podIp(1)), masterFacts(P1), replicaFacts(P2, podIp(1))];
    const ending = { terminating: true, annotations: { [ANNOTATION.renderVersion]: String(CURRENT_RENDER_VERSION) } };
    const made = plan(withPod(recorded(facts, P1), P1, ending));
    expect(made.actions).toContainEqual(expect.objectContaining({ kind: 'SwitchOver', to: P0 }) as unknown);
    expect(made.status).toMatchObject({ currentPrimary: P1, targetPrimary: P0 });
  });

  it('so that a lost record is taken back as it was', () => {
    const { targetPrimary } = plan(recorded(silent, P0)).status;
    const facts = [back(P0), back(P1), leftBy(podIp(0))];
    expect(promoted(plan(withoutRecord(named(facts, podIp(1), targetPrimary))))).toEqual([P0]);
  });
});
