import { describe, expect, it } from 'vitest';
import type { KubeObject, Plan, RedisClusterSnapshot, RedisNodeFacts } from '#domain';
import { LABEL, dataSetIdOf } from '#domain';
import { nameObjects, volumeClaimName } from '#manifests';
import { NOW_MS, drawSettled, masterFacts, podIp, replicaFacts, silentFacts, withFacts } from '#testing';
import { planRedisCluster } from './plan-redis-cluster.ts';
import { DEFAULT_PLANNER_POLICY } from './planner-input.ts';

const plan = (snapshot: RedisClusterSnapshot): Plan =>
  planRedisCluster({ snapshot, nowMs: NOW_MS, policy: DEFAULT_PLANNER_POLICY });

const settled = drawSettled({
  mode: 'Replication',
  storage: { type: 'PersistentVolume', size: '1Gi' },
  deletionPolicy: 'Snapshot',
});
const names = nameObjects('orders', dataSetIdOf(settled.resource));
const [P0, P1, P2] = settled.pods.map((pod) => pod.name) as [string, string, string];

const claim = (pod: string): KubeObject => ({
  apiVersion: 'v1',
  kind: 'PersistentVolumeClaim',
  metadata: {
    name: volumeClaimName(pod),
    namespace: 'shop',
    uid: `uid-${pod}`,
    labels: { [LABEL.dataSet]: names.hash, [LABEL.instance]: 'orders' },
  },
});

const beingDeleted = (redis: readonly RedisNodeFacts[]): RedisClusterSnapshot => {
  const { resource, children } = settled;
  const metadata = { ...resource.metadata, deletionTimestamp: '2026-01-03T00:00:00Z' };
  const claims = [P0, P1, P2].map(claim);
  return withFacts({ ...settled, resource: { ...resource, metadata }, children: [...children, ...claims] }, { redis });
};

const lostLink = (pod: string) => replicaFacts(pod, podIp(0), { linkUp: false, linkDownSinceMs: 3_600_000 });
const keeps = ({ actions }: Plan): readonly string[] =>
  actions.flatMap((action) => (action.kind === 'SetAside' ? [action.pod] : []));
const deletes = ({ actions }: Plan): boolean => actions.some(({ kind }) => kind === 'DeleteChild');

describe('the last snapshot before a deletion', () => {
  it('is written by the primary, and nothing goes before it is kept', () => {
    const made = plan(beingDeleted([masterFacts(P0), replicaFacts(P1, podIp(0)), replicaFacts(P2, podIp(0))]));
    expect(keeps(made)).toEqual([P0]);
    expect(deletes(made)).toBe(false);
  });

  it('is not written by a replica while the primary is silent: its volume holds more, and would go', () => {
    const made = plan(beingDeleted([silentFacts('REFUSED'), lostLink(P1), lostLink(P2)]));
    expect(keeps(made)).toEqual([]);
    expect(deletes(made)).toBe(false);
    const asked = made.status.conditions.find(({ type }) => type === 'ActionRequired');
    expect(asked).toMatchObject({ status: 'True', reason: 'SnapshotNotPossible' });
  });

  it('is written by the furthest once every pod answers', () => {
    const waits = replicaFacts(P0, podIp(1), { linkUp: false, offsetBytes: 2_000 });
    expect(keeps(plan(beingDeleted([waits, lostLink(P1), lostLink(P2)])))).toEqual([P0]);
  });
});
