/** The shape of a running data set is changed: size, Sentinels, mode, persistence, volumes. Nothing is lost by any of it. */
import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startLedger } from '../tools/ledger/start-ledger.ts';
import { cleanUp } from './clean-up.ts';
import { sharedFleet, type Fleet } from './fleet.ts';
import {
  applyRedisCluster,
  connectClient,
  dataPods,
  getItem,
  kubectl,
  listItems,
  makeNamespace,
  readLocal,
  redisCli,
  waitFor,
  waitLocallyReady,
  type LocalRedisCluster,
  type PodItem,
} from './member.ts';
import { withServerProcess } from './signal-redis.ts';
import { DURABLE, REPLICATION_SPEC, SENTINEL_SPEC, STANDALONE_SPEC } from './specs.ts';
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

const inPod = ({ cluster }: Watched, pod: string, line: string): Promise<string> =>
  kubectl(cluster, ['exec', '-n', NAMESPACE, pod, '-c', 'redis', '--', 'sh', '-c', line]);

const conditionOf = (object: LocalRedisCluster | undefined, type: string): string => {
  const found = object?.status?.conditions?.find((condition) => condition.type === type);
  return `${found?.status} ${found?.reason}`;
};

const expectWhole = async ({ cluster, name }: Watched): Promise<LocalRedisCluster> => {
  const object = await waitLocallyReady(cluster, NAMESPACE, name);
  expect(conditionOf(object, 'Ready')).toBe('True Ready');
  expect(conditionOf(object, 'ReplicationHealthy')).toMatch(/^True (AllLinked|NoReplicas)$/);
  for (const type of ['ActionRequired', 'DataAtRisk', 'Stalled', 'Degraded'] as const) {
    expect(conditionOf(object, type)).toMatch(/^False /);
  }
  return object;
};

/** It follows the primary, holds its key, keeps what lay there, and was never made a primary. */
const expectReturned = async (watched: Watched, pod: string, old: string): Promise<void> => {
  const { cluster, name } = watched;
  expect(await redisCli(cluster, NAMESPACE, pod, ['INFO replication'])).toMatch(/role:slave[^]*master_link_status:up/);
  expect(await redisCli(cluster, NAMESPACE, pod, [`GET key:${KEYS}`, 'GET only-old'])).toMatch(/between\n\s*$/);
  expect(await inPod(watched, pod, 'ls -d /data/left-behind.* | wc -l')).toBe('1\n');
  expect(
    Number(await inPod(watched, pod, `cat /data/left-behind.*/appendonlydir/* | grep -ac ${old}`)),
  ).toBeGreaterThan(0);
  expect(await kubectl(cluster, ['logs', pod, '-n', NAMESPACE, '-c', 'redis'])).not.toMatch(/MASTER MODE enabled/);
  const told = await waitFor('status tells of the folder', async () =>
    (await readLocal(cluster, NAMESPACE, name))?.status?.setAside?.find((entry) => entry.pod === pod),
  );
  expect(told.file).toMatch(/^left-behind\.\d+$/);
};

const volumesOf = async ({ cluster, name }: Watched): Promise<readonly string[]> => {
  const claims = await listItems(cluster, NAMESPACE, 'pvc', `app.kubernetes.io/instance=${name}`);
  return claims.map(
    ({ metadata, status }) => `${metadata.name} ${metadata.uid} ${(status as { phase: string }).phase}`,
  );
};

/** The volume of a data pod that does not run becomes a small disk with what was on it; returns what takes that back. */
const shrinkVolume = async ({ cluster }: Watched, pod: string, size: string): Promise<() => Promise<void>> => {
  const claim = await getItem(cluster, NAMESPACE, 'pvc', `data-${pod}`);
  const { volumeName } = claim?.spec as { readonly volumeName: string };
  const volume = await getItem(cluster, NAMESPACE, 'pv', volumeName);
  const { path } = (volume?.spec as { readonly hostPath: { readonly path: string } }).hostPath;
  const nodeName = /\/([^/]+)\/[^/]+$/.exec(path)?.[1] ?? '';
  const node = cluster.node(Number(nodeName.slice(nodeName.lastIndexOf('-') + 1)));
  const run = async (line: string): Promise<void> => {
    const { exitCode, stderr } = await node.exec(['sh', '-c', line]);
    if (exitCode !== 0) throw new Error(`${line}: ${stderr}`);
  };
  const mount = `mount -t tmpfs -o size=${size},mode=0777 tmpfs ${path}`;
  await run(`mkdir ${path}.kept && cp -a ${path}/. ${path}.kept && ${mount} && cp -a ${path}.kept/. ${path}`);
  return () => run(`umount -l ${path} && rm -r ${path}.kept`);
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

  it('a pod that comes back over its old volume copies what is, and what it held before goes aside', async () => {
    const watched = await create('returned', { ...SENTINEL_SPEC, ...DURABLE });
    const { cluster, name } = watched;
    const returning = (await dataPods(cluster, NAMESPACE, name)).at(-1)?.metadata.name ?? '';
    await onPrimary(watched, 'SET only-old value-of-old', 'WAIT 2 5000');
    const volumes = await volumesOf(watched);
    expect(volumes.filter((volume) => volume.endsWith(' Bound'))).toHaveLength(3);
    const ledger = await startLedger(cluster, NAMESPACE, name, { writers: 2 });
    const down = await change(watched, { size: 2 });
    const smaller = await expectWhole(watched);
    expect(smaller.status?.currentPrimary).not.toBe(returning);
    expect(await volumesOf(watched)).toEqual(volumes);
    // As a claim that was restored by hand: it is found by its name alone.
    await kubectl(cluster, ['label', 'pvc', `data-${returning}`, '-n', NAMESPACE, 'redis.atoll.dev/data-set-']);
    await onPrimary(watched, 'DEL only-old', `${FILL} between`);
    const up = await change(watched, { size: 3 });
    const whole = await expectWhole(watched);
    expect(whole.status?.primaryTerm).toBe(smaller.status?.primaryTerm);
    await expectReturned(watched, returning, 'value-of-old');
    expect(await volumesOf(watched)).toEqual(volumes);
    const report = await ledger.finish({ everywhere: true });
    tellFigures(`size 3 to 2 in ${down} s, back over the old volume in ${up} s`, report);
    expect(report).toMatchObject({ lost: [], lostOnReplicas: {} });
  });

  it('nothing is lost when the only member is killed while a pod comes back over its old volume', async () => {
    const watched = await create('lonely', { ...STANDALONE_SPEC, ...DURABLE });
    const { cluster, name } = watched;
    await change(watched, { mode: 'Replication', size: 2 });
    const [primary = '', returning = ''] = (await dataPods(cluster, NAMESPACE, name)).map((pod) => pod.metadata.name);
    await onPrimary(watched, 'SET only-old value-of-old', 'WAIT 1 5000');
    const ledger = await startLedger(cluster, NAMESPACE, name, { writers: 2 });
    await change(watched, { mode: 'Standalone', size: 1 });
    const alone = await expectWhole(watched);
    await onPrimary(watched, 'DEL only-old', `${FILL} between`);
    const restarts = async (): Promise<number> =>
      (await getItem<PodItem>(cluster, NAMESPACE, 'pod', primary))?.status.containerStatuses?.[0]?.restartCount ?? 0;
    const kill = (): Promise<boolean> =>
      waitFor('the server is killed', async () => {
        await withServerProcess(cluster, NAMESPACE, primary, 'kill -9 $pid');
        return true;
      });
    // The second time its kubelet waits ten seconds, and meanwhile the pod that comes back is alone.
    await kill();
    await waitFor('its container runs again', async () => (await restarts()) >= 1);
    await kill();
    await patchSpec(watched, { mode: 'Replication', size: 2 });
    const whole = await expectWhole(watched);
    expect([whole.status?.currentPrimary, whole.status?.primaryTerm]).toEqual([primary, alone.status?.primaryTerm]);
    await expectReturned(watched, returning, 'value-of-old');
    const report = await ledger.finish({ everywhere: true });
    tellFigures('the only member was killed twice while the other came back', report);
    expect(report).toMatchObject({ lost: [], lostOnReplicas: {} });
    expect(await restarts()).toBeGreaterThanOrEqual(2);
  });

  it('a pod that comes back waits where what it left takes the room, and goes on once a person made some', async () => {
    const watched = await create('tight', { ...REPLICATION_SPEC, ...DURABLE });
    const { cluster, name } = watched;
    const [primary = '', returning = ''] = (await dataPods(cluster, NAMESPACE, name)).map((pod) => pod.metadata.name);
    const client = await connectClient(cluster, NAMESPACE, name);
    expect(await client.set('big', randomBytes(1_500_000).toString('base64'))).toBe('OK');
    expect(await client.call('WAIT', '1', '10000')).toBe(1);
    client.disconnect();
    await change(watched, { size: 1 });
    const release = await shrinkVolume(watched, returning, '5m');
    await patchSpec(watched, { size: 2 });
    const asked = await waitFor('a person is asked', async () => {
      const object = await readLocal(cluster, NAMESPACE, name);
      return conditionOf(object, 'ActionRequired') === 'True NoRoomForCopy' ? object : undefined;
    });
    const { message = '' } = asked.status?.conditions?.find(({ type }) => type === 'ActionRequired') ?? {};
    expect(message).toMatch(
      new RegExp(`^${returning} does not start: beside /data/left-behind\\.\\d+ \\(\\d+ [KM]iB\\)`),
    );
    expect(conditionOf(asked, 'Available')).toBe('True PrimaryServes');
    expect(await redisCli(cluster, NAMESPACE, primary, ['SET meanwhile 1'])).toContain('OK');
    await waitFor('the folder is removed', async () => {
      await inPod(watched, returning, 'rm -rf /data/left-behind.*');
      return true;
    });
    await expectWhole(watched);
    expect(await redisCli(cluster, NAMESPACE, returning, ['STRLEN big', 'GET meanwhile'])).toMatch(/2000000\n1\n/);
    await release();
  });
});
