import { describe, expect, it } from 'vitest';
import { ANNOTATION } from '#domain';
import type { RedisClusterSnapshot, RejectedDirective } from '#domain';
import { redisDirectives, resolveSpec, restartHash } from '#manifests';
import { NOW_MS, drawSettled, masterFacts, podIp, replicaFacts, withFacts } from '#testing';
import { buildClusterView } from './cluster-view.ts';
import { judgeConfig } from './judge-config.ts';
import { DEFAULT_PLANNER_POLICY } from './planner-input.ts';

type Live = Readonly<Record<string, string>>;

const draw = (config: Live, lives: readonly Live[], rejected: readonly RejectedDirective[] = []) => {
  const snapshot = drawSettled({ mode: 'Replication', size: lives.length, config });
  const own = redisDirectives(resolveSpec({ ...snapshot.resource.spec, config: {} }));
  const facts = lives.map((live, index) => {
    const change = { config: { ...own, ...live } };
    return index === 0 ? masterFacts('p', change) : replicaFacts('r', podIp(0), change);
  });
  const { resource } = snapshot;
  const status = { ...resource.status, config: { applied: 0, pendingRestart: [], rejected } };
  return withFacts({ ...snapshot, resource: { ...resource, status } }, { redis: facts });
};
const judge = (snapshot: RedisClusterSnapshot) =>
  judgeConfig(buildClusterView({ snapshot, nowMs: NOW_MS, policy: DEFAULT_PLANNER_POLICY }));
const valuesOf = (snapshot: RedisClusterSnapshot) => judge(snapshot).changes.map(({ values }) => values);

describe('judgeConfig', () => {
  it('one bad directive stops no other: only what differs is set', () => {
    const live = { 'maxmemory-policy': 'noeviction', hz: '10', activerehashing: 'yes' };
    const config = { 'maxmemory-policy': 'allkeys-lru', hz: '501', activerehashing: 'yes', 'no-such': '1' };
    const made = judge(draw(config, [live]));
    expect(made.changes.map(({ values }) => values)).toEqual([{ 'maxmemory-policy': 'allkeys-lru' }]);
    expect(made.status).toMatchObject({ applied: 1, pendingRestart: [] });
    expect(made.status?.rejected.map(({ key }) => key)).toEqual(['hz', 'no-such']);
  });

  const refused = {
    key: 'loglevel',
    value: 'loud',
    reason: 'Redis 8.0.2 refused it: bad enum.',
    engine: 'Redis 8.0.2',
  };

  it('what this engine refused is not sent again, until the value or the engine changes', () => {
    const live = { loglevel: 'notice' };
    expect(judge(draw({ loglevel: 'loud' }, [live], [refused]))).toMatchObject({
      changes: [],
      status: { applied: 0, rejected: [refused] },
    });
    expect(valuesOf(draw({ loglevel: 'debug' }, [live], [refused]))).toEqual([{ loglevel: 'debug' }]);
    const older = { ...refused, engine: 'Redis 7.0.15' };
    expect(valuesOf(draw({ loglevel: 'loud' }, [live], [older]))).toEqual([{ loglevel: 'loud' }]);
  });

  it('where the value of the user was refused, the operator’s own holds', () => {
    const said = { ...refused, key: 'appendfsync', value: 'sometimes' };
    expect(valuesOf(draw({ appendfsync: 'sometimes' }, [{ appendfsync: 'no' }], [said]))).toEqual([
      { appendfsync: 'everysec' },
    ]);
  });

  it('what a server changed silently is left as it has it, but a change by hand is set back', () => {
    const said = { ...refused, key: 'acllog-max-len', value: '7', kept: '5' };
    const config = { 'acllog-max-len': '7' };
    expect(valuesOf(draw(config, [{ 'acllog-max-len': '5' }], [said]))).toEqual([]);
    expect(valuesOf(draw(config, [{ 'acllog-max-len': '6' }], [said]))).toEqual([config]);
  });

  it('what needs a restart is pending until a pod was started with it, then it was refused', () => {
    const snapshot = draw({ databases: '32' }, [{ databases: '16' }, { databases: '32' }]);
    expect(judge(snapshot).status).toMatchObject({ pendingRestart: ['databases'], rejected: [] });
    const hash = restartHash(resolveSpec(snapshot.resource.spec), snapshot.record?.renderVersion ?? 1);
    const pods = snapshot.pods.map((pod) => ({ ...pod, annotations: { [ANNOTATION.restartHash]: hash } }));
    expect(judge({ ...snapshot, pods }).status).toMatchObject({
      pendingRestart: [],
      rejected: [{ key: 'databases', value: '32', kept: '16' }],
    });
  });

  it('a directive that only the newer pods of a version change know is pending, not rejected', () => {
    const snapshot = draw({ 'set-max-listpack-entries': '64' }, [{}, { 'set-max-listpack-entries': '64' }]);
    expect(judge(snapshot).status).toMatchObject({ pendingRestart: ['set-max-listpack-entries'], rejected: [] });
  });

  it('of two names of one directive one is rejected', () => {
    const names = { 'hash-max-listpack-entries': '64', 'hash-max-ziplist-entries': '128' };
    const made = judge(draw(names, [{ 'hash-max-listpack-entries': '64', 'hash-max-ziplist-entries': '64' }]));
    expect(made.status?.rejected).toMatchObject([{ key: 'hash-max-ziplist-entries' }]);
    expect(made.changes).toEqual([]);
  });

  it('nobody answers: the last word stays', () => {
    const snapshot = draw({ loglevel: 'loud' }, [{}], [refused]);
    expect(judge({ ...snapshot, redis: {} }).status?.rejected).toEqual([refused]);
  });

  const limited = (snapshot: RedisClusterSnapshot, ...limits: readonly number[]): RedisClusterSnapshot => {
    const redis = snapshot.pods.filter(({ component }) => component === 'redis').map(({ name }) => name);
    const limitOf = (name: string) => limits[redis.indexOf(name)];
    return {
      ...snapshot,
      pods: snapshot.pods.map((pod) => {
        const memoryLimitBytes = limitOf(pod.name);
        return memoryLimitBytes === undefined ? pod : { ...pod, memoryLimitBytes };
      }),
    };
  };

  it('a maxmemory goes only to pods whose own limit holds it; the others wait for their restart', () => {
    const lives = [{ maxmemory: '75000000' }, { maxmemory: '75000000' }];
    const wanted = draw({ maxmemory: '150000000' }, lives);
    expect(judge(limited(wanted, 100_000_000, 200_000_000)).changes.map(({ values }) => values)).toEqual([
      { maxmemory: '150000000' },
    ]);
    expect(judge(limited(wanted, 100_000_000, 100_000_000))).toMatchObject({
      changes: [],
      status: { pendingRestart: ['maxmemory'], applied: 0 },
    });
    expect(valuesOf(limited(draw({ maxmemory: '50000000' }, lives), 100_000_000, 100_000_000))).toHaveLength(2);
  });

  it('where the spec says nothing, maxmemory is what the limit of the pod itself leaves', () => {
    expect(valuesOf(limited(draw({}, [{ maxmemory: '75' }, { maxmemory: '99' }]), 100, 100))).toEqual([
      { maxmemory: '75' },
    ]);
    expect(valuesOf(draw({}, [{ maxmemory: '10' }]))).toEqual([{ maxmemory: '0' }]);
  });
});

describe('judgeConfig: two versions of the engine that both refuse a value', () => {
  const said = (version: string) => ({
    key: 'loglevel',
    value: 'loud',
    reason: `Redis ${version} refused it.`,
    engine: `Redis ${version}`,
  });
  const [older, newer] = [said('7.0.15'), said('8.0.2')];
  const between = (config: Live, lives: readonly Live[], rejected: readonly RejectedDirective[]) => {
    const snapshot = draw(config, lives, rejected);
    const [first = ''] = snapshot.pods.map(({ name }) => name);
    const facts = snapshot.redis[first];
    if (facts?.reachable !== true) throw new Error('pod 0 is drawn as answering');
    return { ...snapshot, redis: { ...snapshot.redis, [first]: { ...facts, version: '7.0.15' } } };
  };
  const lives = [{ loglevel: 'notice' }, { loglevel: 'notice' }];

  it('each is remembered by itself, and nothing is sent any more', () => {
    const made = judge(between({ loglevel: 'loud' }, lives, [older, newer]));
    expect(made).toMatchObject({ changes: [], status: { applied: 0, rejected: [older, newer] } });
  });

  it('what one of them said is told and kept while the other is still to be asked', () => {
    const made = judge(between({ loglevel: 'loud' }, lives, [older]));
    expect(made.changes.map(({ pod }) => pod.facts.version)).toEqual(['8.0.2']);
    expect(made.status?.rejected).toEqual([older]);
  });

  it('one refuses, the other took it: each keeps what it can, and nothing is sent again', () => {
    const refusal = { ...older, key: 'appendfsync', value: 'sometimes' };
    const mixed = [{ appendfsync: 'everysec' }, { appendfsync: 'sometimes' }];
    const made = judge(between({ appendfsync: 'sometimes' }, mixed, [refusal]));
    expect(made).toMatchObject({ changes: [], status: { rejected: [refusal] } });
  });
});
