import { describe, expect, it } from 'vitest';
import { NO_ROOM, VOLUME_FULL } from '#domain';
import type { DataSetRecord, KubeObject, Plan, RedisClusterSnapshot } from '#domain';
import {
  NOW_MS,
  drawChildren,
  drawSettled,
  masterFacts,
  podIp,
  replicaFacts,
  silentFacts,
  waitingFacts,
  withFacts,
  withPod,
  withResource,
} from '#testing';
import { planRedisCluster } from './plan-redis-cluster.ts';
import { DEFAULT_PLANNER_POLICY } from './planner-input.ts';

const plan = (snapshot: RedisClusterSnapshot): Plan =>
  planRedisCluster({ snapshot, nowMs: NOW_MS, policy: DEFAULT_PLANNER_POLICY });
const conditionOf = ({ status }: Plan, type: string) => status.conditions.find((found) => found.type === type);
const SPEC = { mode: 'Replication', size: 3, storage: { type: 'PersistentVolume', size: '1Gi' } } as const;
const settled = drawSettled(SPEC);
const [P0, P1, P2] = settled.pods.map(({ name }) => name) as [string, string, string];
const linked = [masterFacts(P0), replicaFacts(P1, podIp(0)), replicaFacts(P2, podIp(0))] as const;
const [primary, replica, other] = linked;
const AOF = { enabled: true, rewriting: false, lastWriteOk: true };

describe('a pod without room for the copy', () => {
  const words = `${NO_ROOM} folder=/data/left-behind.1764640000 bytes=41943040 free=20971520 needed=69206016`;
  const returned = withPod(withFacts(settled, { redis: [primary, replica, silentFacts()] }), P2, {
    ready: false,
    lastWords: words,
  });
  const record = { ...(returned.record as DataSetRecord), returning: { '2': 1_764_640_000 } };
  const snapshot = { ...returned, record, children: drawChildren(returned.resource, record) };

  it('a person is told pod, claim, folder, bytes and what to do, and nothing is done', () => {
    const made = plan(snapshot);
    expect(made.actions).toEqual([]);
    const told = conditionOf(made, 'ActionRequired');
    expect(told).toMatchObject({ status: 'True', reason: 'NoRoomForCopy' });
    for (const text of [P2, `data-${P2}`, '/data/left-behind.1764640000 (40 MiB)', '20 MiB free', 'needs 66 MiB']) {
      expect(told?.message).toContain(text);
    }
    expect(told?.message).toContain(`kubectl exec -n shop ${P2} -c redis -- sh -c 'rm -rf /data/left-behind.*'`);
    expect(conditionOf(made, 'Available')?.status).toBe('True');
  });

  it('that it lets nobody in is no trouble with passwords', () => {
    const refusing = { ...silentFacts(), reason: 'AUTH' } as const;
    const made = plan({ ...snapshot, redis: { ...snapshot.redis, [P2]: refusing } });
    expect(conditionOf(made, 'ActionRequired')?.reason).toBe('NoRoomForCopy');
    for (const type of ['CredentialsInSync', 'Stalled', 'DataAtRisk'])
      expect(conditionOf(made, type)?.message).not.toMatch(/refuse/);
  });

  it('no longer once its server answers, though it is not ready before it has its copy', () => {
    const copying = { ...snapshot, redis: { ...snapshot.redis, [P2]: waitingFacts(P2) } };
    expect(conditionOf(plan(copying), 'ActionRequired')?.reason).not.toBe('NoRoomForCopy');
  });

  it('its volume may grow meanwhile', () => {
    const made = plan(withResource(snapshot, { spec: { storage: { type: 'PersistentVolume', size: '2Gi' } } }));
    expect(made.actions.map(({ reason }) => reason)).toEqual(['GrowingVolumes']);
  });

  it('without a primary it is not waited for as one that comes back by itself', () => {
    const facts = { redis: [silentFacts(), silentFacts(), silentFacts()] };
    const made = plan(withPod(withFacts(snapshot, facts), P0, { nodeReady: false }));
    expect(conditionOf(made, 'ActionRequired')?.message).toContain(`${P2} waits: its volume has no room for a copy`);
  });
});

describe('a full volume', () => {
  const refusing = (facts: Partial<typeof primary>) =>
    plan(withFacts(settled, { redis: [masterFacts(P0, facts), replica, other] }));

  const appendFails = { aof: { ...AOF, lastWriteOk: false, writesFail: true } } as const;
  const snapshotFailed = {
    save: { inProgress: false, lastOk: false, lastAtSeconds: 1, changesSince: 9 },
    config: { save: '3600 1', 'proc-title-template': '{title} {listen-addr} {server-mode} left=1764640000:41943040' },
  } as const;

  it.each([
    ['VolumeFull', appendFails],
    ['SnapshotFailed', snapshotFailed],
  ])('a primary that answers MISCONF is not available, and a person is told: %s', (reason, facts) => {
    const made = refusing(facts);
    expect(conditionOf(made, 'Available')).toMatchObject({ status: 'False', reason });
    const told = conditionOf(made, 'ActionRequired');
    expect(told).toMatchObject({ status: 'True', reason });
    expect(told?.message).toContain(`data-${P0}`);
    expect(told?.message).toContain('MISCONF');
  });

  it('a snapshot fails for other reasons too: the log tells, and no removal is offered', () => {
    const told = conditionOf(refusing(snapshotFailed), 'ActionRequired');
    expect(told?.message).toContain('its last snapshot failed; the log of the server says why');
    for (const text of ['rm -rf', 'spec.storage.size', 'is full']) expect(told?.message).not.toContain(text);
  });

  it.each([
    ['its snapshot failed', snapshotFailed, 'False'],
    ['its append-only file takes nothing', appendFails, 'True'],
  ])('a replica refuses no writes of clients: %s', (_, facts, asked) => {
    const made = plan(withFacts(settled, { redis: [primary, replicaFacts(P1, podIp(0), facts), other] }));
    expect(conditionOf(made, 'ActionRequired')?.status).toBe(asked);
    expect(conditionOf(made, 'Available')?.status).toBe('True');
    expect(conditionOf(made, 'ActionRequired')?.message).not.toContain('MISCONF');
  });

  it.each([
    ['only a rewrite failed', { aof: { ...AOF, lastWriteOk: false } }],
    [
      'no RDB is to be kept',
      { save: { inProgress: false, lastOk: false, lastAtSeconds: 1, changesSince: 9 }, config: { save: '' } },
    ],
  ])('writes go on: %s', (_, facts) => {
    const made = refusing(facts);
    expect(conditionOf(made, 'Available')?.status).toBe('True');
    expect(conditionOf(made, 'ActionRequired')?.status).toBe('False');
  });

  it('names what was set aside there, since it may go', () => {
    const title = '{title} {listen-addr} {server-mode} left=1764640000:41943040';
    const made = refusing({
      aof: { ...AOF, lastWriteOk: false, writesFail: true },
      config: { 'proc-title-template': title },
    });
    expect(conditionOf(made, 'ActionRequired')?.message).toContain('/data/left-behind.1764640000 (40 MiB)');
  });

  it('a primary that ends on it may come back within the minute: nobody is asked to give up what it holds', () => {
    const ended = {
      ready: false,
      restarts: 1,
      waitingReason: 'CrashLoopBackOff: back-off 10s',
      lastWords: VOLUME_FULL,
    };
    const facts = { redis: [silentFacts(), waitingFacts(P1, { keys: 90 }), waitingFacts(P2, { keys: 90 })] };
    const made = plan(withPod(withFacts(settled, facts), P0, ended));
    expect(conditionOf(made, 'ActionRequired')?.reason).toBe('VolumeFull');
    expect(made.actions.filter(({ kind }) => kind === 'PromotePod')).toEqual([]);
  });

  it('a replica that ends for it says so', () => {
    const ended = {
      ready: false,
      restarts: 9,
      waitingReason: 'CrashLoopBackOff: back-off 5m0s',
      lastWords: VOLUME_FULL,
    };
    const made = plan(withPod(withFacts(settled, { redis: [primary, replica, silentFacts()] }), P2, ended));
    expect(conditionOf(made, 'ActionRequired')).toMatchObject({ status: 'True', reason: 'VolumeFull' });
    expect(conditionOf(made, 'Degraded')?.message).toContain(
      `${P2} (keeps ending: CrashLoopBackOff, its volume is full)`,
    );
  });
});

describe('what was set aside on the volumes', () => {
  const title = '{title} {listen-addr} {server-mode} left=1764640000:8192';
  const told = replicaFacts(P2, podIp(0), { config: { 'proc-title-template': title } });
  const ENTRY = {
    pod: P2,
    file: 'left-behind.1764640000',
    at: '2025-12-02T01:46:40.000Z',
    reason: 'LeftBehind',
    bytes: 8_192,
  };

  it('stands in the status until the pod says that it is gone', () => {
    const { status } = plan(withFacts(settled, { redis: [primary, replica, told] }));
    expect(status.setAside).toEqual([ENTRY]);
    expect(status.phase).toBe('Ready');
    const before = withResource(settled, { status: { phase: 'Ready', setAside: [ENTRY] } });
    expect(plan(withFacts(before, { redis: [primary, replica, silentFacts()] })).status.setAside).toEqual([ENTRY]);
    expect(plan(before).status.setAside).toEqual([]);
  });
});

describe('the volume of a second pod that a rollout needed', () => {
  const alone = drawSettled({ mode: 'Replication', size: 1, storage: SPEC.storage, persistence: { enabled: false } });
  const [own] = alone.children.filter(({ kind }) => kind === 'PersistentVolumeClaim');
  const surging: DataSetRecord = { ...(alone.record as DataSetRecord), surge: 'Removing', surgeVolume: 'Made' };
  const claim = (labels: Readonly<Record<string, string>>): KubeObject => ({
    ...(own as KubeObject),
    metadata: { name: `data-${P1}`, namespace: 'shop', uid: 'uid-second', labels },
  });
  const deleted = (labels: Readonly<Record<string, string>>): readonly string[] =>
    plan({
      ...alone,
      record: surging,
      children: [...drawChildren(alone.resource, surging), claim(labels)],
    }).actions.flatMap((action) => (action.kind === 'DeleteChild' ? [action.key.name] : []));

  it('goes with the pod if the StatefulSet made it; one that somebody made by hand stays', () => {
    expect(deleted(own?.metadata.labels ?? {})).toEqual([`data-${P1}`]);
    expect(deleted({})).toEqual([]);
  });
});

describe('a data set that is taken up again over its volumes', () => {
  const gone = {
    ...settled,
    record: { ...(settled.record as DataSetRecord), members: 3, primaryPod: P2 },
    children: settled.children.filter(
      ({ kind, metadata }) => kind === 'PersistentVolumeClaim' || /-record$/.test(metadata.name),
    ),
    pods: [],
    redis: {},
  };
  const replicasOf = ({ actions }: Plan): readonly number[] =>
    actions.flatMap((action) =>
      action.kind === 'ApplyChild' && action.object.kind === 'StatefulSet'
        ? [(action.object['spec'] as { replicas: number }).replicas]
        : [],
    );

  it.each([1, 2, 5])('begins with the members that it had, also where the size is %i now', (size) => {
    expect(replicasOf(plan(withResource(gone, { spec: { mode: 'Replication', size } })))).toEqual([3]);
  });

  it('asleep too, and as what it was where a Standalone is asked for', () => {
    expect(replicasOf(plan(withResource(gone, { spec: { mode: 'Standalone', size: 1 } })))).toEqual([3]);
  });

  it('forgets the number once its StatefulSet tells it', () => {
    const running = { ...settled, record: { ...(settled.record as DataSetRecord), members: 3 } };
    const records = plan(running).actions.flatMap((action) => (action.kind === 'WriteRecord' ? [action.record] : []));
    expect(records).toHaveLength(1);
    expect(records[0]).not.toHaveProperty('members');
    expect(records[0]).toMatchObject({ primaryPod: P0, primaryTerm: 1 });
  });
});
