import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { LABEL } from '#domain';
import { createRedisCluster, isReady, readRedisCluster, waitForRedisCluster } from '../tools/fleet/redis-cluster.ts';
import { cleanUp } from './clean-up.ts';
import { sharedFleet, type Fleet } from './fleet.ts';
import {
  applyRedisCluster,
  connectClient,
  dataPods,
  getItem,
  kubectl,
  makeNamespace,
  readLocal,
  redisCli,
  waitFor,
  waitLocallyReady,
} from './member.ts';
import { DURABLE, REPLICATION_SPEC, SENTINEL_INPUT, SENTINEL_SPEC, STANDALONE_SPEC } from './specs.ts';

let fleet: Fleet;
beforeAll(async () => {
  fleet = await sharedFleet();
  await makeNamespace(fleet.a.cluster, 'create');
});
afterAll(async () => {
  await cleanUp(fleet, fleet.a, 'create');
  await cleanUp(fleet, fleet.b, 'create');
});

describe('a Sentinel RedisCluster made through GraphQL', () => {
  it('reaches the member cluster, runs, and is Ready at the hub with its primary', async () => {
    const { api } = fleet.hub;
    const spec = { ...SENTINEL_INPUT, config: { 'maxmemory-policy': 'allkeys-lru' } };
    const created = await createRedisCluster(api, {
      memberClusterId: fleet.a.memberClusterId,
      namespace: 'create',
      name: 'orders',
      spec,
    });
    expect(created.generation).toBe(1);
    const view = await waitForRedisCluster(api, created.id, isReady, { what: 'Ready' });
    expect(view.delivery).toMatchObject({ state: 'APPLIED', sync: 'IN_SYNC' });
    expect(view.status).toMatchObject({
      size: 3,
      readyPods: 3,
      primaryTerm: 1,
      freshness: 'FRESH',
      lastKnown: false,
      dataSetId: created.hubUid,
    });

    const live = await readLocal(fleet.a.cluster, 'create', 'orders');
    expect(live?.metadata.annotations?.['redis.atoll.dev/hub-uid']).toBe(created.hubUid);
    const primary = view.status?.currentPrimary ?? '';
    expect(view.status?.endpoints?.['primaryAddress']).toContain(
      view.status?.pods.find((pod) => pod.name === primary)?.ip,
    );

    const info = await redisCli(fleet.a.cluster, 'create', primary, ['INFO replication', 'INFO memory']);
    expect(info).toContain('role:master');
    expect(info).toContain('connected_slaves:2');
    expect(info).toContain('maxmemory_policy:allkeys-lru');
    const replicas = (await dataPods(fleet.a.cluster, 'create', 'orders')).filter(
      (pod) => pod.metadata.name !== primary,
    );
    for (const replica of replicas) {
      const answer = await redisCli(fleet.a.cluster, 'create', replica.metadata.name, ['INFO replication']);
      expect(answer).toContain('role:slave');
      expect(answer).toContain('master_link_status:up');
    }
  });

  it('serves an application that finds the primary by way of Sentinel', async () => {
    const client = await connectClient(fleet.a.cluster, 'create', 'orders');
    await client.set('greeting', 'ahoy');
    expect(await client.get('greeting')).toBe('ahoy');
    client.disconnect();
  });

  it('refuses a second object of the same name', async () => {
    const input = {
      memberClusterId: fleet.a.memberClusterId,
      namespace: 'create',
      name: 'orders',
      spec: SENTINEL_INPUT,
    };
    await expect(createRedisCluster(fleet.hub.api, input)).rejects.toThrow('ALREADY_EXISTS');
  });

  it('tells a subscriber of a change without being asked', async () => {
    const { api } = fleet.hub;
    const created = await createRedisCluster(api, {
      memberClusterId: fleet.b.memberClusterId,
      namespace: 'create',
      name: 'watched',
      spec: { ...SENTINEL_INPUT, mode: 'STANDALONE', size: 1 },
    });
    const document =
      'subscription S($id: ID!) { redisCluster(id: $id) { cursor kind redisCluster { status { phase } } } }';
    const phases: (string | undefined)[] = [];
    interface Change {
      readonly redisCluster: { readonly redisCluster: { readonly status: { readonly phase: string } | null } | null };
    }
    for await (const change of api.subscribe<Change>(document, { id: created.id }, AbortSignal.timeout(90_000))) {
      phases.push(change.redisCluster.redisCluster?.status?.phase);
      if (phases.at(-1) === 'READY') break;
    }
    expect(phases.length).toBeGreaterThan(1);
    expect(phases.at(-1)).toBe('READY');
  });
});

describe('a hand-written RedisCluster', () => {
  it('works without any hub, in each mode, and prints its columns', async () => {
    const { cluster } = fleet.a;
    const specs = { cache: STANDALONE_SPEC, pair: REPLICATION_SPEC, trio: { ...SENTINEL_SPEC, ...DURABLE } };
    for (const [name, spec] of Object.entries(specs))
      await applyRedisCluster(cluster, { namespace: 'create', name, spec });
    for (const name of Object.keys(specs)) await waitLocallyReady(cluster, 'create', name);
    const [header = '', ...rows] = (await kubectl(cluster, ['get', 'arc', '-n', 'create'])).trim().split('\n');
    expect(header).toMatch(/NAME\s+MODE\s+READY\s+PRIMARY\s+.*AGE/);
    expect(rows.find((row) => row.startsWith('trio'))).toMatch(/trio\s+Sentinel\s+3\/3\s+trio-\S+-\d\s/);
    expect(rows.find((row) => row.startsWith('pair'))).toMatch(/pair\s+Replication\s+2\/2/);
    expect(rows.find((row) => row.startsWith('cache'))).toMatch(/cache\s+Standalone\s+1\/1/);
    for (const name of Object.keys(specs)) {
      const client = await connectClient(cluster, 'create', name);
      expect(await client.set('k', name)).toBe('OK');
      client.disconnect();
    }
  });

  it('is shown by the hub, which did not make it', async () => {
    const document = 'query L($id: ID!) { localObjects(memberClusterId: $id) { namespace name } }';
    await waitFor('the hub to list create/trio', async () => {
      const answer = await fleet.hub.api.request<{ localObjects: { namespace: string; name: string }[] }>(document, {
        id: fleet.a.memberClusterId,
      });
      return answer.localObjects.some((each) => each.namespace === 'create' && each.name === 'trio');
    });
  });

  it('gets more replicas by one number, and no pod that ran is restarted', async () => {
    const { cluster } = fleet.a;
    const before = await dataPods(cluster, 'create', 'trio');
    const client = await connectClient(cluster, 'create', 'trio');
    await client.set('kept', 'yes');
    await kubectl(cluster, ['patch', 'arc', 'trio', '-n', 'create', '--type=merge', '-p', '{"spec":{"size":4}}']);
    const ready = await waitFor('4 of 4 Ready', async () => {
      const object = await readLocal(cluster, 'create', 'trio');
      return object?.status?.phase === 'Ready' && object.status.readyPods === 4 ? object : undefined;
    });
    expect(ready.status?.primaryTerm).toBe(1);
    const after = await dataPods(cluster, 'create', 'trio');
    expect(after.map((pod) => pod.metadata.uid)).toEqual(expect.arrayContaining(before.map((pod) => pod.metadata.uid)));
    const newest = after.find((pod) => before.every((old) => old.metadata.name !== pod.metadata.name));
    await waitFor('the new replica to have the key', async () =>
      (await redisCli(cluster, 'create', newest?.metadata.name ?? '', ['GET kept'])).includes('yes'),
    );
    client.disconnect();
  });

  it('comes back when a pod, a Service and a ConfigMap are deleted by hand', async () => {
    const { cluster } = fleet.a;
    const [pod] = await dataPods(cluster, 'create', 'pair');
    const service = await getItem(cluster, 'create', 'service', 'pair');
    await kubectl(cluster, ['delete', 'pod', pod?.metadata.name ?? '', '-n', 'create', '--wait=false']);
    await kubectl(cluster, ['delete', 'service', 'pair', '-n', 'create']);
    await waitFor('the Service to be made again', async () => {
      const again = await getItem(cluster, 'create', 'service', 'pair');
      return again !== undefined && again.metadata.uid !== service?.metadata.uid;
    });
    await waitFor('the pod to be made again', async () => {
      const again = (await dataPods(cluster, 'create', 'pair')).find(
        (each) => each.metadata.name === pod?.metadata.name,
      );
      return again !== undefined && again.metadata.uid !== pod?.metadata.uid;
    });
  });
});

describe('deletionPolicy', () => {
  const remaining = async (name: string): Promise<string[]> => {
    const text = await kubectl(fleet.a.cluster, [
      'get',
      'statefulset,service,pvc,configmap,secret,pdb',
      '-n',
      'create',
      '-l',
      `app.kubernetes.io/instance=${name}`,
      '-o',
      'name',
    ]);
    return text
      .trim()
      .split('\n')
      .filter(Boolean)
      .map((line) => line.split('/')[0] ?? '');
  };
  const remove = async (name: string, deletionPolicy: string): Promise<void> => {
    await applyRedisCluster(fleet.a.cluster, {
      namespace: 'create',
      name,
      spec: { ...STANDALONE_SPEC, ...DURABLE, deletionPolicy },
    });
    await waitLocallyReady(fleet.a.cluster, 'create', name);
    await kubectl(fleet.a.cluster, ['delete', 'arc', name, '-n', 'create', '--timeout=60s']);
    await waitFor(`pods of ${name} to go`, async () => (await dataPods(fleet.a.cluster, 'create', name)).length === 0);
  };

  it('RetainVolumes, the default, keeps the volumes and what is needed to take them up again', async () => {
    await remove('retained', 'RetainVolumes');
    const kinds = await remaining('retained');
    expect(kinds).toContain('persistentvolumeclaim');
    expect(kinds).not.toContain('statefulset.apps');
    expect(kinds).not.toContain('service');
  });
  it('Delete removes everything', async () => {
    await remove('removed', 'Delete');
    await waitFor('nothing to remain', async () => (await remaining('removed')).length === 0);
  });
  it('Deny keeps Redis running and says what is needed', async () => {
    const { cluster } = fleet.a;
    await applyRedisCluster(cluster, {
      namespace: 'create',
      name: 'denied',
      spec: { ...STANDALONE_SPEC, deletionPolicy: 'Deny' },
    });
    await waitLocallyReady(cluster, 'create', 'denied');
    await cluster.kubectl(['delete', 'arc', 'denied', '-n', 'create', '--wait=false']);
    const held = await waitFor('ActionRequired or a refused deletion', async () => {
      const object = await readLocal(cluster, 'create', 'denied');
      if (object?.metadata.deletionTimestamp === undefined) return object;
      return object.status?.conditions?.some((each) => each.type === 'ActionRequired' && each.status === 'True')
        ? object
        : undefined;
    });
    expect(held.metadata.finalizers).toContain('redis.atoll.dev/children');
    const [before] = await dataPods(cluster, 'create', 'denied');
    await kubectl(cluster, ['delete', 'pod', before?.metadata.name ?? '', '-n', 'create', '--wait=false']);
    await waitFor('the replaced pod to be labelled as primary', async () => {
      const [pod] = await dataPods(cluster, 'create', 'denied');
      return pod?.metadata.uid !== before?.metadata.uid && pod?.metadata.labels?.[LABEL.role] === 'primary';
    });
    await kubectl(cluster, [
      'patch',
      'arc',
      'denied',
      '-n',
      'create',
      '--type=merge',
      '-p',
      '{"spec":{"deletionPolicy":"Delete"}}',
    ]);
    await cluster.kubectl(['delete', 'arc', 'denied', '-n', 'create', '--timeout=60s']);
    await waitFor('denied to go', async () => (await readLocal(cluster, 'create', 'denied')) === undefined);
  });
});

it('answers lists and fleet health from what was reported', async () => {
  const document = `{ redisClusters(first: 10) { edges { node { name status { phase } } } pageInfo { hasNextPage } totalCount }
    memberClusters(first: 10) { edges { node { name region freshness } } } fleetHealth(groupBy: [REGION]) { total ready unknown groups { key total ready } } }`;
  interface Answer {
    readonly redisClusters: {
      readonly totalCount: number;
      readonly edges: readonly { readonly node: { readonly name: string } }[];
    };
    readonly memberClusters: {
      readonly edges: readonly { readonly node: { readonly name: string; readonly freshness: string } }[];
    };
    readonly fleetHealth: { readonly total: number; readonly ready: number; readonly unknown: number };
  }
  await waitFor('all of them to be counted ready', async () => {
    const answer = await fleet.hub.api.request<Answer>(document);
    expect(answer.memberClusters.edges.map((edge) => edge.node.freshness)).toEqual(['FRESH', 'FRESH']);
    expect(answer.redisClusters.edges.map((edge) => edge.node.name)).toEqual(
      expect.arrayContaining(['orders', 'watched']),
    );
    return (
      answer.fleetHealth.total >= 2 &&
      answer.fleetHealth.ready === answer.fleetHealth.total &&
      answer.fleetHealth.unknown === 0
    );
  });
  expect(await readRedisCluster(fleet.hub.api, 'bm9uc2Vuc2U')).toBeUndefined();
});
