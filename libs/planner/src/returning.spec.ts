import { describe, expect, it } from 'vitest';
import type { DataSetRecord, KubeObject, Plan, RedisClusterSnapshot, RedisClusterSpec, RedisNodeFacts } from '#domain';
import {
  NOW_MS,
  drawPod,
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

const STAMP = 1_764_640_000;
const plan = (snapshot: RedisClusterSnapshot): Plan =>
  planRedisCluster({ snapshot, nowMs: NOW_MS, policy: DEFAULT_PLANNER_POLICY });
const asked = ({ status }: Plan) => status.conditions.find(({ type }) => type === 'ActionRequired');
const promoted = ({ actions }: Plan) => actions.flatMap((action) => (action.kind === 'PromotePod' ? [action.pod] : []));
const recorded = ({ actions }: Plan): readonly DataSetRecord[] =>
  actions.flatMap((action) => (action.kind === 'WriteRecord' ? [action.record] : []));
const replicasOf = ({ actions }: Plan): readonly number[] =>
  actions.flatMap((action) =>
    action.kind === 'ApplyChild' && action.object.kind === 'StatefulSet'
      ? [(action.object['spec'] as { replicas: number }).replicas]
      : [],
  );

const SPEC = { mode: 'Replication', size: 3, storage: { type: 'PersistentVolume', size: '1Gi' } } as const;
const [P0, P1, P2] = drawSettled(SPEC).pods.map((pod) => pod.name) as [string, string, string];
const draw = (
  facts: readonly RedisNodeFacts[],
  returning: Readonly<Record<string, number>>,
  spec: Partial<RedisClusterSpec> = {},
): RedisClusterSnapshot => {
  const settled = withFacts(drawSettled({ ...SPEC, ...spec }), { redis: facts });
  return { ...settled, record: { ...(settled.record as DataSetRecord), returning } };
};
const linked = [masterFacts(P0, { connectedReplicas: 2 }), replicaFacts(P1, podIp(0)), replicaFacts(P2, podIp(0))];
const tellSize = (snapshot: RedisClusterSnapshot, size: number): RedisClusterSnapshot => ({
  ...snapshot,
  children: snapshot.children.map((child): KubeObject => {
    const data = child['data'] as { readonly settings?: string } | undefined;
    if (data?.settings === undefined) return child;
    return { ...child, data: { ...data, settings: data.settings.replace(/^REDIS_PODS=.*$/m, `REDIS_PODS=${size}`) } };
  }),
});

describe('a pod that came back to an old volume, in an outage', () => {
  const empty = [waitingFacts(P0), waitingFacts(P1), waitingFacts(P2)];
  it.each(['Refuse', 'Allow'] as const)(
    'nothing is started empty before it has joined: dataLossPolicy %s',
    (policy) => {
      const made = plan(draw(empty, { '2': STAMP }, { failover: { dataLossPolicy: policy } }));
      expect(promoted(made)).toEqual([]);
      expect(asked(made)).toMatchObject({ status: 'True', reason: 'OnlyOldData' });
      expect(asked(made)?.message).toContain(`${P2} /data/left-behind.${STAMP}`);
      expect(asked(made)?.message).toContain(`on ${P0}.`);
    },
  );

  it('after it has joined, the loss is declared as before', () => {
    const made = plan(draw(empty, {}, { failover: { dataLossPolicy: 'Allow' } }));
    expect(promoted(made)).toEqual([P0]);
  });

  it('without persistence there is nothing to look for', () => {
    const made = plan(draw(empty, { '2': STAMP }, { persistence: { enabled: false } }));
    expect(promoted(made)).toEqual([P0]);
  });

  it.each([
    ['its keys', [silentFacts(), waitingFacts(P1), waitingFacts(P2, { keys: 19 })], 'OnlyOldData', `${P2} (19 keys)`],
    ['its folder', [silentFacts(), waitingFacts(P1), waitingFacts(P2)], 'OnlyOldData', `left-behind.${STAMP}`],
    [
      'its keys, beside others',
      [silentFacts(), waitingFacts(P1, { keys: 100 }), waitingFacts(P2, { keys: 19 })],
      'PodsMissing',
      `${P2} (19 keys)`,
    ],
  ])('while others are silent a person is told %s', (_, facts, reason, text) => {
    const made = plan(withPod(draw(facts, { '2': STAMP }), P0, { nodeReady: false }));
    expect(promoted(made)).toEqual([]);
    expect(asked(made)?.reason).toBe(reason);
    expect(asked(made)?.message).toContain(text);
  });
});

describe('who is noted', () => {
  it('a linked pod no longer, although the spec is refused', () => {
    const refused = draw(linked, { '2': STAMP }, {});
    const made = plan(withResource(refused, { spec: { engine: { type: 'Redis', version: '7.0' } } }));
    expect(made.status.conditions.find(({ type }) => type === 'SpecRejected')?.status).toBe('True');
    expect(recorded(made).at(-1)?.returning).toEqual({});
  });

  it('never the recorded primary, and no longer when it is', () => {
    const asleep = draw([silentFacts(), silentFacts(), silentFacts()], { '0': STAMP, '1': STAMP });
    expect(recorded(plan(asleep)).at(-1)?.returning).toEqual({ '1': STAMP });
  });

  it('no pod that exists, however small a size the settings tell; and as many are rendered as run', () => {
    const smaller = plan(withResource(tellSize(draw(linked, {}), 1), { spec: { size: 4 } }));
    expect(recorded(smaller)).toEqual([]);
    expect(replicasOf(smaller).every((replicas) => replicas >= 3)).toBe(true);
  });

  it('while it is noted that a fourth comes back, no fewer are rendered than run', () => {
    const grown = tellSize(draw(linked, {}), 1);
    const claim = grown.children.find(({ metadata }) => metadata.name === `data-${P2}`) as KubeObject;
    const fourth = { ...claim, metadata: { ...claim.metadata, name: claim.metadata.name.replace(/2$/, '3') } };
    const made = plan(withResource({ ...grown, children: [...grown.children, fourth] }, { spec: { size: 4 } }));
    expect(Object.keys(recorded(made).at(-1)?.returning ?? {})).toEqual(['3']);
    expect(replicasOf(made)).toEqual([]);
  });

  it('not before a pod that leaves is gone: until then nobody knows what it leaves', () => {
    const two = draw([masterFacts(P0, { connectedReplicas: 1 }), replicaFacts(P1, podIp(0))], {}, { size: 2 });
    const leaving = drawPod(two.resource, 'redis', 2, { terminating: true });
    const made = plan(withResource({ ...two, pods: [...two.pods, leaving] }, { spec: { size: 3 } }));
    expect(replicasOf(made)).toEqual([]);
    expect(recorded(made)).toEqual([]);
  });

  it('is read back from the settings when the record is lost', () => {
    const noted = draw([waitingFacts(P0), waitingFacts(P1), waitingFacts(P2)], { '2': STAMP });
    const settings = noted.children.map((child): KubeObject => {
      const data = child['data'] as { readonly settings?: string } | undefined;
      const text = data?.settings;
      return text === undefined ? child : { ...child, data: { ...data, settings: `${text}RETURNING=2:${STAMP}\n` } };
    });
    const lost = withoutRecord({ ...noted, children: settings });
    const status = { phase: 'Ready', primaryTerm: 3, currentPrimary: P0, primaryVersion: '8.0.2' } as const;
    expect(asked(plan(withResource(lost, { status })))?.reason).toBe('OnlyOldData');
  });
});
