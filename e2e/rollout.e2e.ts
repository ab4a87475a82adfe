/** Rolling restarts under a write ledger: what needs one, what holds one, what stops one, and what it costs. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startLedger } from '../tools/ledger/start-ledger.ts';
import { cleanUp } from './clean-up.ts';
import { sharedFleet, type Fleet, type MemberCluster } from './fleet.ts';
import { applyRedisCluster, dataPods, makeNamespace, redisCli, waitFor, waitLocallyReady } from './member.ts';
import { killAgent } from './outage.ts';
import { REPLICATION_SPEC, SENTINEL_SPEC, STANDALONE_SPEC } from './specs.ts';
import {
  describePods,
  patchSpec,
  readRolling,
  tellFigures,
  uidsOf,
  waitForRollout,
  waitRolled,
  type Watched,
} from './watch-rollout.ts';

const NAMESPACE = 'rollout';
let fleet: Fleet;
beforeAll(async () => {
  fleet = await sharedFleet();
  await Promise.all([fleet.a, fleet.b].map(({ cluster }) => makeNamespace(cluster, NAMESPACE)));
});
afterAll(async () => {
  await Promise.all([fleet.a, fleet.b].map((member) => cleanUp(fleet, member, NAMESPACE)));
});

const create = async ({ cluster }: MemberCluster, name: string, spec: unknown): Promise<Watched> => {
  await applyRedisCluster(cluster, { namespace: NAMESPACE, name, spec });
  await waitLocallyReady(cluster, NAMESPACE, name);
  return { cluster, namespace: NAMESPACE, name };
};
const primaryOf = async (watched: Watched): Promise<string> =>
  (await readRolling(watched))?.status?.currentPrimary ?? '';
const conditionOf = async (watched: Watched, type: string) =>
  (await readRolling(watched))?.status?.conditions?.find((condition) => condition.type === type);

describe.concurrent('a rollout', { timeout: 300_000 }, () => {
  it('of Sentinel for a directive that needs a restart goes on where a killed agent left it, and loses nothing', async () => {
    const watched = await create(fleet.a, 'directive', SENTINEL_SPEC);
    const { cluster } = watched;
    const before = await describePods(watched);
    const ledger = await startLedger(cluster, NAMESPACE, watched.name);
    await patchSpec(watched, { config: { databases: '4' } });
    await waitForRollout(watched, 'the first replica is restarted', ({ updated }) => updated > 3);
    await killAgent(cluster);
    await waitRolled(watched);
    const report = await ledger.finish({ everywhere: true });
    tellFigures('restart of Sentinel, agent killed', report);
    expect(report.lost).toEqual([]);
    expect(Object.values(report.lostOnReplicas).flat()).toEqual([]);
    expect((await conditionOf(watched, 'ConfigApplied'))?.status).toBe('True'); // as the servers themselves say
    for (const { metadata } of await dataPods(cluster, NAMESPACE, watched.name)) {
      expect(await redisCli(cluster, NAMESPACE, metadata.name, ['SELECT 4'])).toContain('out of range');
    }
    const after = await describePods(watched);
    const kept = after.filter((pod) => before.includes(pod));
    expect(kept.map((pod) => /sentinel-\d/.exec(pod)?.[0])).toEqual(['sentinel-0', 'sentinel-1', 'sentinel-2']);
  });

  it('with a bad image stops at the first pod, and taking it back mends it; paused and a canary hold it', async () => {
    const watched = await create(fleet.b, 'careful', { ...REPLICATION_SPEC, size: 3 });
    const before = await uidsOf(watched);
    const ledger = await startLedger(watched.cluster, NAMESPACE, watched.name);
    const { engine, resources } = REPLICATION_SPEC;
    await patchSpec(watched, { engine: { ...engine, image: 'docker.io/library/redis:8.0-nowhere' } });
    const stuck = await waitForRollout(watched, 'stops', ({ waitingFor }) => waitingFor.includes('ErrImagePull'));
    expect(stuck.status?.rollout?.waitingFor).toMatch(/careful-\w+-2 cannot start: ErrImagePull of .*8\.0-nowhere/);
    expect((await conditionOf(watched, 'Available'))?.status).toBe('True');
    expect((await uidsOf(watched)).slice(0, 2)).toEqual(before.slice(0, 2));

    await patchSpec(watched, { engine: { ...engine, image: null } });
    await waitRolled(watched);
    const mended = await uidsOf(watched);
    expect(mended.slice(0, 2)).toEqual(before.slice(0, 2));

    const more = { ...resources, requests: { ...resources.requests, memory: '72Mi' } };
    await patchSpec(watched, { resources: more, updateStrategy: { paused: true } });
    await waitForRollout(watched, 'paused', ({ reason }) => reason === 'RolloutPaused');
    expect(await conditionOf(watched, 'RestartPending')).toMatchObject({ status: 'True', reason: 'RolloutPaused' });
    expect(await uidsOf(watched)).toEqual(mended);

    await patchSpec(watched, { updateStrategy: { paused: false, partition: 1 } });
    await waitForRollout(watched, 'a canary', ({ reason }) => reason === 'PartitionReached');
    expect((await uidsOf(watched)).filter((uid) => mended.includes(uid))).toHaveLength(2);

    await patchSpec(watched, { updateStrategy: null });
    await waitRolled(watched);
    expect((await uidsOf(watched)).filter((uid) => mended.includes(uid))).toEqual([]);
    const report = await ledger.finish({ everywhere: true });
    tellFigures('bad image, canary and new resources of Replication', report);
    expect(report.lost).toEqual([]);
  });

  it('of one pod without persistence brings a second one for as long as it takes, and loses nothing', async () => {
    const watched = await create(fleet.b, 'alone', STANDALONE_SPEC);
    const [before] = await uidsOf(watched);
    const ledger = await startLedger(watched.cluster, NAMESPACE, watched.name);
    await patchSpec(watched, { config: { 'tcp-backlog': '128' } });
    await waitFor('a second pod', async () => (await uidsOf(watched)).length === 2);
    await waitRolled(watched);
    await waitFor('one pod again', async () => (await uidsOf(watched)).length === 1);
    const report = await ledger.finish();
    tellFigures('surge of Standalone', report);
    expect(report.lost).toEqual([]);
    const [after] = await uidsOf(watched);
    expect(after).not.toBe(before);
    expect(await primaryOf(watched)).toMatch(/-0$/);
    expect((await conditionOf(watched, 'ConfigApplied'))?.status).toBe('True'); // as the server itself says
  });
});
