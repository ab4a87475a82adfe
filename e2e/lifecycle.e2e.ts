/** Sleep, standstill, fence and end of a data set: what the spec's switches promise. */
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { cleanUp } from './clean-up.ts';
import { sharedFleet, type Fleet } from './fleet.ts';
import {
  applyRedisCluster,
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
import { DURABLE, REPLICATION_SPEC, SENTINEL_SPEC, STANDALONE_SPEC } from './specs.ts';
import { patchSpec, type Watched } from './watch-rollout.ts';

const NAMESPACE = 'lifecycle';
const KEYS = 1_000;
const FILL = `EVAL "for i = 1, ${KEYS} do redis.call('SET', 'key:' .. i, i) end" 0`;

let fleet: Fleet;
beforeAll(async () => {
  fleet = await sharedFleet();
  await makeNamespace(fleet.a.cluster, NAMESPACE);
});
afterAll(async () => cleanUp(fleet, fleet.a, NAMESPACE));

const create = async (name: string, spec: unknown): Promise<Watched & { readonly primary: string }> => {
  const { cluster } = fleet.a;
  await applyRedisCluster(cluster, { namespace: NAMESPACE, name, spec });
  const { status } = await waitLocallyReady(cluster, NAMESPACE, name);
  const primary = status?.currentPrimary ?? '';
  await redisCli(cluster, NAMESPACE, primary, [FILL]);
  return { cluster, namespace: NAMESPACE, name, primary };
};

const waitPhase = ({ cluster, name }: Watched, phase: string): Promise<LocalRedisCluster> =>
  waitFor(`${name} ${phase}`, async () => {
    const object = await readLocal(cluster, NAMESPACE, name);
    const { status, metadata } = object ?? {};
    return status?.phase === phase && status.observedGeneration === metadata?.generation ? object : undefined;
  });

const statusOf = (object: LocalRedisCluster | undefined, type: string): string | undefined =>
  object?.status?.conditions?.find((condition) => condition.type === type)?.status;

const partsOf = ({ cluster, name }: Watched, kinds: string) =>
  listItems(cluster, NAMESPACE, kinds, `app.kubernetes.io/instance=${name}`);

const remove = async ({ cluster, name }: Watched): Promise<void> => {
  await kubectl(cluster, ['delete', 'arc', name, '-n', NAMESPACE, '--wait=false']);
  await waitFor(`${name} is gone`, async () => (await readLocal(cluster, NAMESPACE, name)) === undefined);
};

/** Reads the file as a server would, from a pod of its own. */
const checkFile = async ({ cluster }: Watched, claim: string, file: string): Promise<PodItem | undefined> => {
  const name = 'check-file';
  const pod = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace: NAMESPACE },
    spec: {
      restartPolicy: 'Never',
      securityContext: { runAsNonRoot: true, runAsUser: 999, fsGroup: 999, seccompProfile: { type: 'RuntimeDefault' } },
      containers: [
        {
          name: 'check',
          image: 'docker.io/library/redis:8.0',
          command: ['redis-check-rdb', `/data/${file}`],
          securityContext: { allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] } },
          volumeMounts: [{ name: 'data', mountPath: '/data' }],
        },
      ],
      volumes: [{ name: 'data', persistentVolumeClaim: { claimName: claim } }],
    },
  };
  await kubectl(cluster, ['apply', '-f', '-'], JSON.stringify(pod));
  return waitFor('the file is checked', async () => {
    const found = await getItem<PodItem>(cluster, NAMESPACE, 'pod', name);
    return /Succeeded|Failed/.test(found?.status.phase ?? '') ? found : undefined;
  });
};

describe.concurrent('a data set', () => {
  it('sleeps without a pod and wakes with every key', async () => {
    const watched = await create('sleeper', { ...SENTINEL_SPEC, ...DURABLE, size: 2 });
    await patchSpec(watched, { hibernation: true });
    const asleep = await waitPhase(watched, 'Hibernated');
    expect(statusOf(asleep, 'Hibernated')).toBe('True');
    expect(await partsOf(watched, 'pods')).toEqual([]);
    await patchSpec(watched, { hibernation: false });
    const { status } = await waitLocallyReady(watched.cluster, NAMESPACE, watched.name);
    expect(await redisCli(watched.cluster, NAMESPACE, status?.currentPrimary ?? '', ['DBSIZE'])).toContain(`${KEYS}`);
    expect(status?.primaryTerm).toBe(1);
  });

  it('is left alone while it is suspended, and cared for afterwards', async () => {
    const watched = await create('still', STANDALONE_SPEC);
    await patchSpec(watched, { suspend: true });
    expect(statusOf(await waitPhase(watched, 'Suspended'), 'Ready')).toBe('True');
    await kubectl(watched.cluster, ['delete', 'service', 'still', '-n', NAMESPACE]);
    await sleep(3_000);
    expect(await getItem(watched.cluster, NAMESPACE, 'service', 'still')).toBeUndefined();
    await patchSpec(watched, { suspend: false });
    await waitFor('the Service is back', () => getItem(watched.cluster, NAMESPACE, 'service', 'still'));
  });

  it('takes no write on any pod while it is fenced, also after its primary was restarted, and then again', async () => {
    const watched = await create('fenced', { ...REPLICATION_SPEC, ...DURABLE });
    const { cluster, primary } = watched;
    await patchSpec(watched, { fencing: { enabled: true } });
    await waitFor('fenced', async () => statusOf(await readLocal(cluster, NAMESPACE, 'fenced'), 'Fenced') === 'True');
    const refused = await redisCli(cluster, NAMESPACE, primary, ['SET key:1 written', 'GET key:1']);
    expect(refused).toContain('NOREPLICAS');
    expect(refused).not.toContain('written');
    await kubectl(cluster, ['delete', 'pod', primary, '-n', NAMESPACE]);
    await waitFor('the pod is back and answers', async () =>
      (await redisCli(cluster, NAMESPACE, primary, ['PING'])).includes('PONG'),
    );
    for (const pod of await dataPods(cluster, NAMESPACE, 'fenced')) {
      expect(await redisCli(cluster, NAMESPACE, pod.metadata.name, ['SET key:1 written'])).toMatch(
        /NOREPLICAS|READONLY|LOADING/,
      );
    }
    await patchSpec(watched, { fencing: { enabled: false } });
    const { status } = await waitLocallyReady(cluster, NAMESPACE, 'fenced');
    const after = await redisCli(cluster, NAMESPACE, status?.currentPrimary ?? '', ['SET key:1 written', 'DBSIZE']);
    expect(after).toContain('OK');
    expect(after).toContain(`${KEYS}`);
  });

  it('leaves one volume with its last RDB, or nothing, as its deletionPolicy says', async () => {
    const [snapshot, gone] = await Promise.all([
      create('kept', { ...REPLICATION_SPEC, ...DURABLE, deletionPolicy: 'Snapshot' }),
      create('gone', { ...STANDALONE_SPEC, ...DURABLE, deletionPolicy: 'Delete' }),
    ]);
    await Promise.all([remove(snapshot), remove(gone)]);
    const everything = 'pods,sts,svc,cm,secret,pdb,pvc';
    const left = await waitFor('only the kept volume is left', async () => {
      const parts = await partsOf(snapshot, everything);
      return parts.length === 1 ? parts : undefined;
    });
    const [{ metadata } = { metadata: undefined }] = left;
    expect(metadata?.name).toBe(`data-${snapshot.primary}`);
    const file = metadata?.annotations?.['redis.atoll.dev/kept-file'] ?? '';
    expect(file).toMatch(/^final-\d+\.rdb$/);
    expect((await checkFile(snapshot, metadata?.name ?? '', file))?.status.phase).toBe('Succeeded');
    await waitFor('nothing is left of the other', async () => (await partsOf(gone, everything)).length === 0);
    await kubectl(snapshot.cluster, [
      'delete',
      'pod/check-file',
      `pvc/${metadata?.name}`,
      '-n',
      NAMESPACE,
      '--wait=false',
    ]);
  });
});
