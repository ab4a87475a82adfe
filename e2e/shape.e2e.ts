/** The shape of a running data set is changed: size, Sentinels, mode, persistence, volumes. Nothing is lost by any of it. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startLedger } from '../tools/ledger/start-ledger.ts';
import { cleanUp } from './clean-up.ts';
import { sharedFleet, type Fleet } from './fleet.ts';
import {
  applyRedisCluster,
  connectClient,
  dataPods,
  kubectl,
  listItems,
  makeNamespace,
  redisCli,
  waitFor,
  waitLocallyReady,
} from './member.ts';
import { DURABLE, REPLICATION_SPEC, STANDALONE_SPEC } from './specs.ts';
import { patchSpec, tellFigures, uidsOf, type Watched } from './watch-rollout.ts';

const NAMESPACE = 'shape';
const KEYS = 2_000;
const FILL = `EVAL "for i = 1, ${KEYS} do redis.call('SET', 'key:' .. i, ARGV[1]) end" 0`;

let fleet: Fleet;
beforeAll(async () => {
  fleet = await sharedFleet();
  await makeNamespace(fleet.a.cluster, NAMESPACE);
});
afterAll(async () => cleanUp(fleet, fleet.a, NAMESPACE));

const create = async (name: string, spec: unknown): Promise<Watched> => {
  const { cluster } = fleet.a;
  await applyRedisCluster(cluster, { namespace: NAMESPACE, name, spec });
  await waitLocallyReady(cluster, NAMESPACE, name);
  return { cluster, namespace: NAMESPACE, name };
};

const change = async (watched: Watched, spec: Readonly<Record<string, unknown>>): Promise<number> => {
  const startedAt = performance.now();
  await patchSpec(watched, spec);
  await waitLocallyReady(watched.cluster, NAMESPACE, watched.name);
  return Math.round(performance.now() - startedAt) / 1_000;
};

const onPrimary = async ({ cluster, name }: Watched, ...commands: string[]): Promise<string> => {
  const { status } = await waitLocallyReady(cluster, NAMESPACE, name);
  return redisCli(cluster, NAMESPACE, status?.currentPrimary ?? '', commands);
};

const keysOf = async (watched: Watched): Promise<number> =>
  Number((await onPrimary(watched, 'DBSIZE')).trim().split('\n').at(-1));

const killAll = async (watched: Watched): Promise<void> => {
  const names = (await dataPods(watched.cluster, NAMESPACE, watched.name)).map((pod) => pod.metadata.name);
  const before = await uidsOf(watched);
  await kubectl(watched.cluster, ['delete', 'pod', ...names, '-n', NAMESPACE, '--wait=false']);
  await waitFor('every pod is another', async () => {
    const after = await uidsOf(watched);
    return after.length >= names.length && after.every((uid) => !before.includes(uid));
  });
};

const claimsOf = async ({ cluster, name }: Watched): Promise<readonly string[]> => {
  const claims = await listItems(cluster, NAMESPACE, 'pvc', `app.kubernetes.io/instance=${name}`);
  return claims.map((claim) => /\d+$/.exec(claim.metadata.name)?.[0] ?? '').sort();
};

describe.concurrent('the shape of a data set', () => {
  it('grows and shrinks under writes, also when its primary is among the pods that leave', async () => {
    const watched = await create('scaled', REPLICATION_SPEC);
    const growing = await startLedger(watched.cluster, NAMESPACE, watched.name, { writers: 2 });
    const up = await change(watched, { size: 4 });
    expect((await growing.finish()).lost).toEqual([]);
    const [first = ''] = (await dataPods(watched.cluster, NAMESPACE, watched.name)).map((pod) => pod.metadata.name);
    // Another becomes primary: pod 0 is deleted, and comes back as a replica.
    await kubectl(watched.cluster, ['delete', 'pod', first, '-n', NAMESPACE, '--wait=false']);
    await waitFor('another primary', async () => {
      const { status } = await waitLocallyReady(watched.cluster, NAMESPACE, watched.name);
      return status?.currentPrimary !== first;
    });
    const shrinking = await startLedger(watched.cluster, NAMESPACE, watched.name, { writers: 2 });
    const down = await change(watched, { size: 1 });
    const report = await shrinking.finish();
    tellFigures(`size 2 to 4 in ${up} s, to 1 in ${down} s`, report);
    expect(report.lost).toEqual([]);
  });

  it('changes its mode from Standalone to Sentinel and back in place, with every key and no restart', async () => {
    const watched = await create('moded', { ...STANDALONE_SPEC, ...DURABLE });
    await onPrimary(watched, `${FILL} 1`);
    const [original = ''] = await uidsOf(watched);
    const seconds: string[] = [];
    for (const spec of [
      { mode: 'Replication', size: 2 },
      { mode: 'Sentinel', size: 2 },
      { sentinel: { replicas: 5 } },
      { sentinel: { replicas: 3 } },
      { mode: 'Replication', sentinel: null },
      { mode: 'Standalone', size: 1 },
    ]) {
      seconds.push(`${JSON.stringify(spec)} ${await change(watched, spec)} s`);
      expect(await keysOf(watched)).toBe(KEYS);
      const client = await connectClient(watched.cluster, NAMESPACE, watched.name);
      expect(await client.set('key:1', 'again')).toBe('OK');
      client.disconnect();
    }
    console.error(`e2e: ${seconds.join(', ')}`);
    expect(await uidsOf(watched)).toEqual([original]);
    const left = await listItems(watched.cluster, NAMESPACE, 'sts,svc,pdb', 'app.kubernetes.io/instance=moded');
    expect(left.filter(({ metadata }) => /sentinel|replicas/.test(metadata.name))).toEqual([]);
  });

  it('persistence goes off and on by one field; no pod restarts, nothing old comes back, nothing new is lost', async () => {
    const watched = await create('persisted', { ...REPLICATION_SPEC, ...DURABLE });
    const before = await uidsOf(watched);
    await onPrimary(watched, `${FILL} old`);
    const off = await change(watched, { persistence: { enabled: false } });
    await onPrimary(watched, `${FILL} new`, 'DEL key:1');
    const on = await change(watched, { persistence: { enabled: true } });
    expect(await uidsOf(watched)).toEqual(before);
    await killAll(watched);
    expect(await keysOf(watched)).toBe(KEYS - 1);
    expect(await onPrimary(watched, 'GET key:2')).toContain('new');

    // There and back at once: it is reported on only when every file is there.
    await patchSpec(watched, { persistence: { enabled: false } });
    const flip = await change(watched, { persistence: { enabled: true } });
    await killAll(watched);
    expect(await keysOf(watched)).toBe(KEYS - 1);

    await change(watched, { persistence: { enabled: false } });
    await onPrimary(watched, `${FILL} newest`);
    await killAll(watched);
    const found = await onPrimary(watched, 'GET key:2');
    expect(found).not.toMatch(/old|new\b/);
    console.error(`e2e: persistence off in ${off} s, on in ${on} s, off and on at once in ${flip} s`);
  });

  it('volumes grow under running pods, and the pods to come get the size', async () => {
    const watched = await create('grown', { ...STANDALONE_SPEC, ...DURABLE, deletionPolicy: 'Delete' });
    await onPrimary(watched, `${FILL} 1`);
    const before = await uidsOf(watched);
    const seconds = await change(watched, { storage: { size: '192Mi' } });
    expect(await uidsOf(watched)).toEqual(before);
    await change(watched, { mode: 'Replication', size: 2 });
    const claims = await listItems(watched.cluster, NAMESPACE, 'pvc', 'app.kubernetes.io/instance=grown');
    const sizes = claims.map(({ spec }) => JSON.stringify((spec as { resources: unknown }).resources));
    expect(sizes).toEqual(Array.from({ length: 2 }, () => '{"requests":{"storage":"192Mi"}}'));
    expect(await keysOf(watched)).toBe(KEYS);
    await change(watched, { mode: 'Replication', size: 1 });
    await waitFor('the volume of the other is deleted', async () => (await claimsOf(watched)).join() === '0');
    console.error(`e2e: a volume grew in ${seconds} s`);
  });
});
