import { describe, expect, it } from 'vitest';
import { ANNOTATION } from '#domain';
import type { PodSnapshot, RedisClusterSnapshot, RedisClusterSpec, RedisNodeFacts } from '#domain';
import { CURRENT_RENDER_VERSION } from '#manifests';
import {
  EVENT,
  HISTORY,
  NOW_MS,
  drawSettled,
  masterFacts,
  playStory,
  podIp,
  replicaFacts,
  silentFacts,
  waitingFacts,
  withFacts,
  withPod,
} from '#testing';
import { planRedisCluster } from '../plan-redis-cluster.ts';
import { DEFAULT_PLANNER_POLICY } from '../planner-input.ts';

const [P0, P1, P2] = drawSettled().pods.map((pod) => pod.name) as [string, string, string];
const ENDING = { terminating: true, annotations: { [ANNOTATION.renderVersion]: String(CURRENT_RENDER_VERSION) } };

const plan = (snapshot: RedisClusterSnapshot) =>
  planRedisCluster({ snapshot, nowMs: NOW_MS, policy: DEFAULT_PLANNER_POLICY });
const draw = (spec: Partial<RedisClusterSpec> = {}, ending: Partial<PodSnapshot> = ENDING): RedisClusterSnapshot =>
  withPod(drawSettled(spec), P0, ending);
const handOver = (snapshot: RedisClusterSnapshot) => plan(snapshot).actions.find(({ kind }) => kind === 'SwitchOver');

describe('a primary whose pod is being deleted', () => {
  it.each(['Sentinel', 'Replication'] as const)('hands over before it goes: %s', (mode) => {
    expect(handOver(draw({ mode }))).toMatchObject({
      from: P0,
      to: P1,
      replicas: [{ pod: P2 }],
      reason: 'PrimaryIsEnding',
    });
  });

  it('hands over while another replica is away, and never to one that goes as well', () => {
    expect(handOver(withPod(draw(), P1, ENDING))).toMatchObject({ to: P2, replicas: [] });
    const alone = withFacts(draw(), { redis: [masterFacts(P0), silentFacts(), replicaFacts(P2, podIp(0))] });
    expect(handOver(alone)).toMatchObject({ to: P2 });
    const all = [P0, P1, P2].reduce((next, pod) => withPod(next, pod, ENDING), drawSettled());
    const made = plan(all);
    expect(made.actions.map(({ kind }) => kind)).not.toContain('SwitchOver');
    expect(made.trail).toContainEqual(
      expect.objectContaining({ rule: 'hand-over-ending', reason: 'NoFitReplica' }) as unknown,
    );
  });

  it('prefers a node that is not being emptied', () => {
    const snapshot = draw();
    const nodes = snapshot.nodes.map((node) => (node.name === 'node-1' ? { ...node, cordoned: true } : node));
    expect(handOver({ ...snapshot, nodes })).toMatchObject({ to: P2 });
  });

  it.each<[string, RedisClusterSnapshot]>([
    ['its pod has no preStop that holds it', draw({}, { ...ENDING, annotations: {} })],
    ['failovers are manual', draw({ failover: { mode: 'Manual' } })],
    ['it is a Standalone', draw({ mode: 'Standalone' })],
    ['it is not being deleted', draw({}, { ...ENDING, terminating: false })],
    ['nobody is linked', withFacts(draw(), { redis: [masterFacts(P0), silentFacts(), silentFacts()] })],
  ])('is left alone when %s', (_, snapshot) => {
    expect(handOver(snapshot)).toBeUndefined();
  });

  it('is left alone when the whole data set goes: deleted, or put to sleep', () => {
    const snapshot = draw();
    const { resource } = snapshot;
    const metadata = { ...resource.metadata, deletionTimestamp: '2026-01-03T00:00:00Z' };
    expect(handOver({ ...snapshot, resource: { ...resource, metadata } })).toBeUndefined();
    const volumes = { storage: { type: 'PersistentVolume', size: '1Gi' } } as const;
    expect(handOver(draw({ ...volumes, hibernation: true }))).toBeUndefined();
  });
});

describe('a hand-over without Sentinel', () => {
  const promoted = masterFacts(P1, { replicationId: 'b'.repeat(40), secondReplicationId: HISTORY });
  const after = (handover: object | undefined): RedisClusterSnapshot => {
    const snapshot = withFacts(draw({ mode: 'Replication' }), {
      redis: [silentFacts('REFUSED'), promoted, replicaFacts(P2, podIp(1), { replicationId: 'b'.repeat(40) })],
    });
    return { ...snapshot, record: { ...snapshot.record, ...(handover ? { handover } : {}) } as never };
  };

  it('is noted before it is begun', () => {
    const { actions } = plan(draw({ mode: 'Replication' }));
    const [first, second] = actions.filter(({ kind }) => kind !== 'LabelRole');
    expect(first).toMatchObject({
      kind: 'WriteRecord',
      record: { primaryPod: P0, handover: { to: P1, history: HISTORY } },
    });
    expect(second).toMatchObject({ kind: 'SwitchOver', method: 'COMMAND' });
  });

  it('by Sentinel needs no note, and is recorded before clients are told', () => {
    const { actions } = plan(draw());
    expect(actions.slice(0, 3)).toMatchObject([
      { kind: 'SwitchOver' },
      { kind: 'WriteRecord', record: { primaryPod: P1, primaryTerm: 2, primaryHost: podIp(1) } },
      { kind: 'LabelRole', pod: P0 },
    ]);
  });

  it('that was noted confirms the new primary also when the old one is gone', () => {
    const made = plan(after({ to: P1, history: HISTORY }));
    expect(made.status.currentPrimary).toBe(P1);
    const written = made.actions.find(({ kind }) => kind === 'WriteRecord');
    expect(written).toMatchObject({ reason: 'PrimaryMoved', record: { primaryPod: P1, handover: undefined } });
  });

  it.each([
    ['nothing is noted', undefined],
    ['another pod is noted', { to: P2, history: HISTORY }],
    ['another history is noted', { to: P1, history: 'c'.repeat(40) }],
  ])('a person is asked when %s', (_, handover) => {
    const { status } = plan(after(handover));
    const asked = status.conditions.find(({ type }) => type === 'ActionRequired');
    expect(asked).toMatchObject({ status: 'True', reason: 'UnrecordedPrimary' });
  });

  const FRESH = { replicationId: 'fresh-0', keys: 90, offsetBytes: 0 };
  /** The old primary is back with its data, and waits; the third pod lost its primary. */
  const returned = (noted: RedisNodeFacts): RedisClusterSnapshot => {
    const spec = { mode: 'Replication', storage: { type: 'PersistentVolume', size: '1Gi' } } as const;
    const third = replicaFacts(P2, podIp(0), { linkUp: false, linkDownSinceMs: 20_000 });
    const snapshot = withFacts(drawSettled(spec), { redis: [waitingFacts(P0, FRESH), noted, third] });
    return { ...snapshot, record: { ...snapshot.record, handover: { to: P1, history: HISTORY } } as never };
  };
  const promotedIn = (snapshot: RedisClusterSnapshot) =>
    plan(snapshot).actions.flatMap((action) => (action.kind === 'PromotePod' ? [action.pod] : []));

  it('that may have been done is not undone: the old primary is not promoted while the new one is out of sight', () => {
    expect(promotedIn(returned(silentFacts()))).toEqual([]);
  });

  it('that was not done, as the noted pod tells, leaves the old primary the right one', () => {
    const unlinked = replicaFacts(P1, podIp(0), { linkUp: false, linkDownSinceMs: 20_000 });
    expect(promotedIn(returned(unlinked))).toEqual([P0]);
  });

  it('of which nothing tells any more is for a person', () => {
    const snapshot = returned(waitingFacts(P1, { ...FRESH, replicationId: 'fresh-1' }));
    expect(promotedIn(snapshot)).toEqual([]);
    const asked = plan(snapshot).status.conditions.find(({ type }) => type === 'ActionRequired');
    expect(asked).toMatchObject({ status: 'True', reason: 'HandoverInDoubt' });
  });

  it('that came to nothing is forgotten', () => {
    const snapshot = drawSettled({ mode: 'Replication' });
    const record = { ...snapshot.record, handover: { to: P1, history: HISTORY } } as never;
    const written = plan({ ...snapshot, record }).actions.find(({ kind }) => kind === 'WriteRecord');
    expect(written).toMatchObject({ reason: 'HandOverEnded', record: { primaryPod: P0, handover: undefined } });
  });
});

describe('a graceful deletion in the simulation', () => {
  const planWorld = (snapshot: RedisClusterSnapshot, nowMs: number) =>
    planRedisCluster({ snapshot, nowMs, policy: DEFAULT_PLANNER_POLICY });

  it.each(['Sentinel', 'Replication'] as const)(
    'is survived wherever the agent is killed in it: %s',
    (mode) => {
      for (let seed = 1; seed <= 6; seed += 1) {
        const spec = { mode, storage: { type: 'PersistentVolume', size: '1Gi' } } as const;
        const story = { spec, seconds: 110, events: { 50: EVENT.deletePod(0) }, seed, killChance: 0.4 };
        const { violations, world } = playStory(story, planWorld);
        expect({ seed, violations, excused: world.excused.size }).toEqual({ seed, violations: [], excused: 0 });
        expect(world.resource?.status).toMatchObject({ phase: 'Ready' });
      }
    },
    60_000,
  );

  it('is found out when nobody hands over', () => {
    const story = { spec: { mode: 'Sentinel' }, seconds: 40, events: { 20: EVENT.deletePod(0) } } as const;
    const deaf = (snapshot: RedisClusterSnapshot, nowMs: number) => {
      const pods = snapshot.pods.map((pod) => ({ ...pod, terminating: false }));
      return planWorld({ ...snapshot, pods }, nowMs);
    };
    expect(playStory(story, deaf).violations.join()).toContain('nobody handed it over');
  });
});
