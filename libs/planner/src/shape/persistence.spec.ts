import { describe, expect, it } from 'vitest';
import type { KubeObject, Plan, RedisClusterSnapshot } from '#domain';
import { nameObjects, renderChildren, resolveSpec } from '#manifests';
import { NOW_MS, drawSettled, masterFacts, podIp, replicaFacts, withFacts, withResource } from '#testing';
import type { ReachableFacts } from '#testing';
import { dataSetIdOf } from '#domain';
import { planRedisCluster } from '../plan-redis-cluster.ts';
import { DEFAULT_PLANNER_POLICY } from '../planner-input.ts';

const plan = (snapshot: RedisClusterSnapshot): Plan =>
  planRedisCluster({ snapshot, nowMs: NOW_MS, policy: DEFAULT_PLANNER_POLICY });

type Seen = Pick<ReachableFacts, 'config'> & Partial<ReachableFacts>;
const aof = (enabled: boolean, rewriting = false) => ({ enabled, rewriting, lastWriteOk: true });
const OFF: Seen = { config: { appendonly: 'no' }, aof: aof(false) };
const ON: Seen = { config: { appendonly: 'yes' }, aof: aof(true) };
const REWRITING: Seen = { ...ON, aof: aof(true, true) };
const telling = (seen: Seen, what: 'drop' | 'keep'): Seen => ({
  ...seen,
  config: { ...seen.config, 'proc-title-template': `{title} aof=${what}` },
});

const VOLUMES = { storage: { type: 'PersistentVolume', size: '1Gi' } } as const;

/** Rendered with persistence as given, now wanted as given; the pods as seen: the primary and one replica. */
const draw = (rendered: boolean, wanted: boolean, pods: readonly [Seen, Seen], drops = false): RedisClusterSnapshot => {
  const spec = { mode: 'Replication', size: 2, ...VOLUMES, persistence: { enabled: rendered } } as const;
  const settled = drawSettled(spec);
  const names = settled.pods.map((pod) => pod.name) as [string, string];
  const seen = withFacts(settled, {
    redis: [masterFacts(names[0], { connectedReplicas: 1, ...pods[0] }), replicaFacts(names[1], podIp(0), pods[1])],
  });
  const resource = { ...seen.resource, spec: { ...seen.resource.spec } };
  const children = drops
    ? [...seen.children.filter(({ kind }) => kind !== 'ConfigMap'), ...dropping(seen)]
    : seen.children;
  return withResource({ ...seen, children, resource }, { spec: { persistence: { enabled: wanted } } });
};

const dropping = (snapshot: RedisClusterSnapshot): readonly KubeObject[] => {
  const dataSetId = dataSetIdOf(snapshot.resource);
  const spec = { ...resolveSpec(snapshot.resource.spec), dropsAof: true };
  const key = { name: 'orders', namespace: 'shop' };
  const recordedPrimary = snapshot.record?.primaryPod;
  const rendered = renderChildren({ ...key, dataSetId, spec, renderVersion: 2, recordedPrimary }).filter(
    ({ kind }) => kind === 'ConfigMap',
  );
  const record = nameObjects('orders', dataSetId).record;
  return [...rendered, ...snapshot.children.filter(({ metadata }) => metadata.name === record)];
};

/** `on`, `drop` or `off` as the plan renders the settings; undefined when it leaves them alone. */
const renders = (made: Plan): string | undefined => {
  for (const action of made.actions) {
    if (action.kind !== 'ApplyChild' || action.object.kind !== 'ConfigMap') continue;
    const settings = (action.object['data'] as { settings?: string }).settings ?? '';
    if (settings.includes('AOF=drop')) return 'drop';
    return settings.includes('PERSISTENCE=on') ? 'on' : 'off';
  }
  return undefined;
};
const begun = (made: Plan): readonly number[] =>
  made.actions.flatMap((action) =>
    action.kind === 'SetConfig' && action.values['appendonly'] === 'yes' ? [Number(action.pod.slice(-1))] : [],
  );

describe('persistence on: the files first, and only then is it relied on', () => {
  it.each([
    ['no pod has a file: the replica begins', [telling(OFF, 'keep'), telling(OFF, 'keep')], undefined, [1]],
    ['the replica rewrites', [telling(OFF, 'keep'), telling(REWRITING, 'keep')], undefined, []],
    ['the replica has its file: the primary begins', [telling(OFF, 'keep'), telling(ON, 'keep')], undefined, [0]],
    ['a rewrite runs', [telling(REWRITING, 'keep'), telling(ON, 'keep')], undefined, []],
    ['a pod may still be about to remove its file', [OFF, telling(OFF, 'drop')], undefined, []],
    ['one whole file was begun before its pod said keep', [telling(ON, 'keep'), ON], undefined, []],
    ['all have whole files: rendered', [telling(ON, 'keep'), telling(ON, 'keep')], 'on', []],
  ] as const)('%s', (_, seen, rendered, pods) => {
    const made = plan(draw(false, true, seen));
    expect(renders(made)).toBe(rendered);
    expect(begun(made)).toEqual(pods);
    expect(made.status.phase).not.toBe('Ready');
  });
});

describe('persistence off: rendered first, and the pods end their files themselves', () => {
  it('the settings say so while every file is still written', () => {
    const made = plan(draw(true, false, [ON, ON]));
    expect(renders(made)).toBe('drop');
    expect(made.actions.some((action) => action.kind === 'SetConfig' && 'appendonly' in action.values)).toBe(false);
  });

  it.each([
    ['nobody has read it', ON, ON, undefined],
    ['one has not read it', telling(OFF, 'drop'), ON, undefined],
    ['one ended its file by another hand, and has not read it', telling(OFF, 'drop'), OFF, undefined],
    ['all have', telling(OFF, 'drop'), telling(OFF, 'drop'), 'off'],
  ] as const)('%s', (_, primary, replica, rendered) => {
    expect(renders(plan(draw(false, false, [primary, replica], true)))).toBe(rendered);
  });

  it.each([
    ['before it is done: it is done first', ON, ON, undefined],
    ['after it is done', telling(OFF, 'drop'), telling(OFF, 'drop'), 'off'],
  ] as const)('wanted on again %s', (_, primary, replica, rendered) => {
    const made = plan(draw(false, true, [primary, replica], true));
    expect(renders(made)).toBe(rendered);
    expect(begun(made)).toEqual([]);
  });

  it('a file left over from a beginning that was taken back is removed too', () => {
    expect(renders(plan(draw(false, false, [telling(ON, 'keep'), telling(OFF, 'keep')])))).toBe('drop');
  });
});

it('a file that was switched off by hand on a persistent data set is begun again', () => {
  const made = plan(draw(true, true, [OFF, ON]));
  expect(begun(made)).toEqual([0]);
});

describe('to sleep with a primary whose file was switched off by hand', () => {
  const sleepy = (primary: Seen): Plan => {
    const settled = drawSettled({ mode: 'Standalone', ...VOLUMES });
    const name = settled.pods[0]?.name ?? '';
    const seen = withFacts(settled, { redis: [masterFacts(name, primary)] });
    return plan(withResource(seen, { spec: { hibernation: true } }));
  };
  const stops = (made: Plan): boolean =>
    made.actions.some((action) => action.kind === 'ApplyChild' && action.object.kind === 'StatefulSet');

  it('it begins a file first, since what is in memory would be gone', () => {
    const made = sleepy(OFF);
    expect(stops(made)).toBe(false);
    expect(begun(made)).toEqual([0]);
    expect(stops(sleepy(ON))).toBe(true);
  });
});
