import { describe, expect, it } from 'vitest';
import { ANNOTATION } from '#domain';
import type { DataSetRecord, Plan, RedisClusterSnapshot } from '#domain';
import {
  HISTORY,
  NOW_MS,
  OTHER_HISTORY,
  drawSettled,
  idleSentinelFacts,
  masterFacts,
  podIp,
  replicaFacts,
  sentinelFacts,
  silentFacts,
  waitingFacts,
  withFacts,
  withResource,
} from '#testing';
import type { ReachableFacts } from '#testing';
import { planRedisCluster } from './plan-redis-cluster.ts';
import { DEFAULT_PLANNER_POLICY } from './planner-input.ts';

const plan = (snapshot: RedisClusterSnapshot): Plan =>
  planRedisCluster({ snapshot, nowMs: NOW_MS, policy: DEFAULT_PLANNER_POLICY });
const of = (made: Plan) =>
  made.actions.map((action) => ('pod' in action ? `${action.kind} ${action.pod}` : action.kind));
const condition = (made: Plan, type: string) => made.status.conditions.find((one) => one.type === type);
const [P0, P1, P2] = drawSettled().pods.map((pod) => pod.name) as [string, string, string];
const VOLUMES = { storage: { type: 'PersistentVolume', size: '1Gi' } } as const;
const REPLICATION = { mode: 'Replication', ...VOLUMES } as const;
const promotedAt = (secondOffsetBytes: number): Partial<ReachableFacts> => ({
  replicationId: OTHER_HISTORY,
  secondReplicationId: HISTORY,
  secondOffsetBytes,
});
const setAside = (pod: string, file: string) => [{ pod, file, at: '2026-01-01T00:00:00Z', reason: 'SettingAside' }];
const FILE = `set-aside-${P0}-aaaaaaaa-1000.rdb`;

/** Sentinel chose P1 while P0 was cut off; P0 is back and says it is master. */
const healed = (p0: Partial<ReachableFacts>, p1: Partial<ReachableFacts>): RedisClusterSnapshot =>
  withFacts(drawSettled(VOLUMES), {
    redis: [masterFacts(P0, { connectedReplicas: 0, ...p0 }), masterFacts(P1, p1), replicaFacts(P2, podIp(1))],
    sentinels: [sentinelFacts(podIp(1)), sentinelFacts(podIp(1)), sentinelFacts(podIp(1))],
  });

describe('two primaries with data', () => {
  it('the one that the Sentinel majority does not name is fenced, then set aside; it is not made a replica yet', () => {
    const made = plan(healed({}, promotedAt(900)));
    expect(of(made).slice(0, 4)).toEqual([`ResumePod ${P1}`, `LabelRole ${P0}`, `FencePod ${P0}`, `SetAside ${P0}`]);
    expect(made.actions[3]).toMatchObject({ file: FILE, expectRunId: `run-${P0}` });
    expect(of(made)).not.toContain(`ReplicateFrom ${P0}`);
    expect(condition(made, 'DataAtRisk')).toMatchObject({ status: 'True', reason: 'TwoPrimaries' });
    expect(condition(made, 'ActionRequired')?.status).toBe('False');
  });

  it('once the status tells of the file at that very offset, it follows', () => {
    const kept = withResource(healed({}, promotedAt(900)), { status: { setAside: setAside(P0, FILE) } });
    expect(of(plan(kept))).toContain(`ReplicateFrom ${P0}`);
    const moved = withResource(healed({ offsetBytes: 1_010 }, promotedAt(900)), {
      status: { setAside: setAside(P0, FILE) },
    });
    expect(of(plan(moved))).toContain(`SetAside ${P0}`);
    expect(of(plan(moved))).not.toContain(`ReplicateFrom ${P0}`);
  });

  it('a loser whose whole history the other one has passed follows at once', () => {
    const made = plan(healed({ offsetBytes: 899 }, promotedAt(900)));
    expect(of(made)).toContain(`ReplicateFrom ${P0}`);
    expect(of(made)).not.toContain(`SetAside ${P0}`);
  });

  it('a loser that was started by a release that cannot set aside is fenced and held for a person', () => {
    const config = { 'enable-protected-configs': 'no' };
    const made = plan(healed({ config }, promotedAt(900)));
    expect(of(made)).toContain(`FencePod ${P0}`);
    expect(of(made)).not.toContain(`SetAside ${P0}`);
    expect(condition(made, 'ActionRequired')?.message).toContain(`${ANNOTATION.discardDataOf}=${P0}`);
    const given = withResource(healed({ config }, promotedAt(900)), {
      metadata: { annotations: { [ANNOTATION.discardDataOf]: P0 } },
    });
    expect(of(plan(given))).toContain(`ReplicateFrom ${P0}`);
  });

  it.each([
    ['only one answers', [sentinelFacts(podIp(1)), silentFacts(), silentFacts()]],
    [
      'one runs a failover',
      [sentinelFacts(podIp(0)), sentinelFacts(podIp(0), { failoverInProgress: true }), sentinelFacts(podIp(0))],
    ],
  ])('while the Sentinels may still choose (%s), nobody is touched', (_name, sentinels) => {
    const open = withFacts(healed({}, promotedAt(900)), { sentinels });
    expect(of(plan(open))).toEqual([]);
    expect(condition(plan(open), 'DataAtRisk')?.status).toBe('True');
  });
});

describe('two primaries and Sentinels that have forgotten whom they chose', () => {
  const forgot = (p0: Partial<ReachableFacts>, p2Follows: number): RedisClusterSnapshot =>
    withFacts(healed(p0, promotedAt(900)), {
      redis: [
        masterFacts(P0, { connectedReplicas: 0, ...p0 }),
        masterFacts(P1, promotedAt(900)),
        replicaFacts(P2, podIp(p2Follows)),
      ],
      sentinels: [idleSentinelFacts(), idleSentinelFacts(), idleSentinelFacts()],
    });

  it('the one promoted out of the recorded one is right, and the record follows it', () => {
    const made = plan(forgot({}, 1));
    expect(made.actions[0]).toMatchObject({ kind: 'WriteRecord', record: { primaryTerm: 2, primaryPod: P1 } });
    expect(of(made)).toContain(`FencePod ${P0}`);
    expect(of(made)).not.toContain(`FencePod ${P1}`);
  });

  it('the recorded one stays right while it has replicas: the other was promoted by hand', () => {
    const made = plan(forgot({ connectedReplicas: 1 }, 0));
    expect(of(made)).toContain(`FencePod ${P1}`);
    expect(of(made)).not.toContain(`FencePod ${P0}`);
  });
});

describe('a deposed primary comes back while its successor is away', () => {
  const NEWER = 'c'.repeat(40);
  const picture = (record: Partial<DataSetRecord>, facts: Parameters<typeof withFacts>[1]['redis']) => {
    const drawn = drawSettled(REPLICATION);
    if (drawn.record === undefined) throw new Error('no record');
    const raised = { ...drawn.record, primaryTerm: 2, primaryPod: P1, primaryHost: podIp(1), ...record };
    return withFacts({ ...drawn, record: raised }, { redis: facts ?? [] });
  };
  const promoted = (made: Plan) => made.actions.flatMap((one) => (one.kind === 'PromotePod' ? [one.pod] : []));
  const lone = masterFacts(P0, { connectedReplicas: 1 });

  it('the recorded one that restarted and waits is promoted; nobody is asked', () => {
    const waits = waitingFacts(P1, { keys: 10, replicationId: NEWER });
    const made = plan(picture({ histories: [HISTORY, NEWER] }, [lone, waits, replicaFacts(P2, podIp(0))]));
    expect(promoted(made)).toEqual([P1]);
    expect(condition(made, 'ActionRequired')?.status).toBe('False');
  });

  it('the replica that alone holds the later history is promoted, not erased by the earlier one', () => {
    const later = waitingFacts(P2, { keys: 12, ...promotedAt(900) });
    const made = plan(picture({}, [lone, waitingFacts(P1, { keys: 0 }), later]));
    expect(promoted(made)).toEqual([P2]);
  });

  it.each([
    ['the record was raised, and the promotion never came', HISTORY, 10],
    ['the successor came back empty', NEWER, 0],
  ])('a person is asked when %s', (_name, replicationId, keys) => {
    const waits = waitingFacts(P1, { keys, replicationId });
    const made = plan(picture({ histories: [HISTORY, NEWER] }, [lone, waits, replicaFacts(P2, podIp(0))]));
    expect(promoted(made)).toEqual([]);
    expect(condition(made, 'ActionRequired')?.reason).toBe('UnrecordedPrimary');
  });

  it('the record keeps the history that a confirmed primary was promoted out of', () => {
    const made = plan(
      picture({}, [replicaFacts(P0, podIp(1)), masterFacts(P1, promotedAt(900)), replicaFacts(P2, podIp(1))]),
    );
    const written = made.actions.find((action) => action.kind === 'WriteRecord');
    expect(written).toMatchObject({
      record: { primaryTerm: 2, histories: expect.arrayContaining([HISTORY]) as string[] },
    });
  });
});

describe('two primaries without Sentinel', () => {
  const rivals = (spec: Parameters<typeof drawSettled>[0], facts: Parameters<typeof withFacts>[1]['redis'] = []) =>
    withFacts(drawSettled({ ...REPLICATION, ...spec }), { redis: facts });

  it('the recorded one of the highest term is right', () => {
    const made = plan(
      rivals({}, [masterFacts(P0), masterFacts(P1, { replicationId: OTHER_HISTORY }), replicaFacts(P2, podIp(0))]),
    );
    expect(of(made)).toEqual([`ResumePod ${P0}`, `FencePod ${P1}`, `SetAside ${P1}`]);
  });

  it('without a recorded one among them: the one promoted out of the other, with a higher term', () => {
    const facts = [silentFacts(), masterFacts(P1, { offsetBytes: 950 }), masterFacts(P2, promotedAt(900))];
    const made = plan(rivals({}, facts));
    expect(made.actions[0]).toMatchObject({ kind: 'WriteRecord', record: { primaryTerm: 2, primaryPod: P2 } });
    expect(of(made)).toContain(`FencePod ${P1}`);
  });

  it('the record of the right one ends what is noted of a hand-over', () => {
    const facts = [silentFacts(), masterFacts(P1, { offsetBytes: 950 }), masterFacts(P2, promotedAt(900))];
    const snapshot = rivals({}, facts);
    const record = { ...snapshot.record, handover: { to: P1, history: OTHER_HISTORY } } as DataSetRecord;
    const [written] = plan({ ...snapshot, record }).actions;
    expect(written).toMatchObject({ kind: 'WriteRecord', record: { primaryPod: P2, handover: undefined } });
  });

  it('else the one that most of the others follow; else a person, and nobody is touched', () => {
    const unrelated = [silentFacts(), masterFacts(P1), masterFacts(P2, { replicationId: OTHER_HISTORY })];
    const undecided = plan(rivals({}, unrelated));
    expect(of(undecided)).toEqual([]);
    expect(condition(undecided, 'ActionRequired')?.message).toContain(ANNOTATION.truePrimary);
    const followed = [replicaFacts(P0, podIp(2)), ...unrelated.slice(1)];
    expect(of(plan(rivals({}, followed)))).toContain(`FencePod ${P1}`);
    const named = withResource(rivals({}, unrelated), { metadata: { annotations: { [ANNOTATION.truePrimary]: P1 } } });
    expect(of(plan(named))).toContain(`FencePod ${P2}`);
  });
});
