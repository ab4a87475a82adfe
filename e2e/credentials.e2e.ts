/** Passwords and users on real servers: rotated under load and a killed agent, copied, changed by hand, added, removed. */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { Redis } from 'ioredis';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startLedger } from '../tools/ledger/start-ledger.ts';
import type { LocalCluster } from '../tools/local-kubernetes/index.ts';
import { adminCli, readCredentials } from './admin-cli.ts';
import { cleanUp } from './clean-up.ts';
import { sharedFleet, type Fleet } from './fleet.ts';
import {
  applyRedisCluster,
  dataPods,
  getItem,
  kubectl,
  listItems,
  makeNamespace,
  readConnection,
  readLocal,
  waitFor,
  waitLocallyReady,
  type KubeItem,
} from './member.ts';
import { AGENT_NAMESPACE, agentPods, killAgent } from './outage.ts';
import { SENTINEL_SPEC, STANDALONE_SPEC } from './specs.ts';

const NAMESPACE = 'credentials';
/** In place of three minutes: the agent of this test is told so by its environment. */
const GRACE_S = 4;
/** Three data sets are made and rotated at once, with a killed agent: on a busy machine each step takes its time. */
const PATIENCE_MS = 120_000;
/** Every password that was ever valid here: none may stand anywhere but in a Secret. */
const canaries = new Set<string>();
let fleet: Fleet;
let cluster: LocalCluster;

const setGrace = async (value: string): Promise<void> => {
  const name = 'deployment/atoll-agent';
  await kubectl(cluster, ['set', 'env', name, '-n', AGENT_NAMESPACE, `ATOLL_TEST_GRACE_SECONDS${value}`]);
  await kubectl(cluster, ['rollout', 'status', name, '-n', AGENT_NAMESPACE, '--timeout=60s']);
};

beforeAll(async () => {
  fleet = await sharedFleet();
  ({ cluster } = fleet.b);
  await Promise.all([makeNamespace(cluster, NAMESPACE), setGrace(`=${GRACE_S}`)]);
});
afterAll(async () => {
  await setGrace('-');
  await cleanUp(fleet, fleet.b, NAMESPACE);
});

interface Seen {
  readonly step?: string;
  readonly oldInUse?: boolean;
  readonly reason?: string;
}
const credentialsOf = async (name: string): Promise<Seen> => {
  const object = await readLocal(cluster, NAMESPACE, name);
  const { credentials } = (object?.status ?? {}) as { credentials?: Seen };
  const condition = object?.status?.conditions?.find(({ type }) => type === 'CredentialsInSync');
  return { ...credentials, ...(condition === undefined ? {} : { reason: condition.reason }) };
};
const waitForCredentials = (name: string, what: string, accept: (seen: Seen) => boolean): Promise<Seen> =>
  waitFor(
    `${name}: ${what}`,
    async () => {
      const seen = await credentialsOf(name);
      return accept(seen) ? seen : undefined;
    },
    PATIENCE_MS,
  );
const isInSync = ({ step, reason }: Seen): boolean => step === 'Settled' && reason === 'InSync';

const keepCanaries = async (name: string): Promise<Record<string, string>> => {
  const values = await readCredentials(cluster, NAMESPACE, name);
  for (const value of Object.values(values)) canaries.add(value);
  return values;
};

const create = async (name: string, spec: object): Promise<void> => {
  await applyRedisCluster(cluster, { namespace: NAMESPACE, name, spec });
  await waitLocallyReady(cluster, NAMESPACE, name);
  await waitForCredentials(name, 'in sync', isInSync);
  await keepCanaries(name);
};

/** The answer of a fresh connection to one pod to AUTH and PING. */
const tryLogin = async (host: string, username: string, password: string, command = 'PING'): Promise<string> => {
  const redis = new Redis({
    host,
    username,
    password,
    retryStrategy: () => null,
    lazyConnect: true,
    enableReadyCheck: false,
  });
  let refusal: Error | undefined;
  redis.on('error', (error: Error) => {
    refusal ??= error;
  });
  try {
    await redis.connect();
    return String(await redis.call(...(command.split(' ') as [string, ...string[]])));
  } catch (error) {
    return (refusal ?? (error as Error)).message;
  } finally {
    redis.disconnect();
  }
};
const hostsOf = async (name: string): Promise<string[]> =>
  (await dataPods(cluster, NAMESPACE, name)).map(({ status }) => status.podIP ?? '');
const loginsOf = async (name: string, username: string, password: string, command?: string): Promise<string[]> =>
  Promise.all((await hostsOf(name)).map((host) => tryLogin(host, username, password, command)));

const makeSecret = (name: string, password: string, allowed: boolean): Promise<string> => {
  canaries.add(password);
  const labels = allowed ? { 'redis.atoll.dev/allow': 'true' } : {};
  const secret = {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name, namespace: NAMESPACE, labels },
    stringData: { password },
  };
  return kubectl(cluster, ['apply', '-f', '-'], JSON.stringify(secret));
};

const rotate = async (name: string): Promise<void> => {
  const metadata = { name: `rotate-${name}`, namespace: NAMESPACE };
  const spec = { redisCluster: name, type: 'RotateCredentials' };
  const object = { apiVersion: 'redis.atoll.dev/v1alpha1', kind: 'RedisOperation', metadata, spec };
  await kubectl(cluster, ['apply', '-f', '-'], JSON.stringify(object));
};

describe.concurrent('credentials', () => {
  it('are rotated with two valid passwords, through a killed agent, without an error of a client', async () => {
    const name = 'rotated';
    await create(name, { ...SENTINEL_SPEC, size: 2 });
    const before = await keepCanaries(name);
    const ledger = await startLedger(cluster, NAMESPACE, name);
    const startedAt = performance.now();
    await rotate(name);
    await waitForCredentials(name, 'begun', ({ step }) => step !== 'Settled');
    await killAgent(cluster);
    await waitForCredentials(name, 'the old password is in use', ({ oldInUse }) => oldInUse === true);
    const during = await keepCanaries(name);
    const newcomer = await startLedger(cluster, NAMESPACE, name, { probePeriodMs: 0 });
    for (const password of [before['app'], during['app']]) {
      expect(await loginsOf(name, 'app', password ?? '')).toEqual(['PONG', 'PONG']);
    }
    await waitForCredentials(
      name,
      'waits for those who know only the old one',
      ({ reason }) => reason === 'OldPasswordInUse',
    );
    const report = await ledger.finish({ everywhere: true });
    expect(report).toMatchObject({ errors: 0, lost: [], lostOnReplicas: {}, twoPrimariesMs: 0 });
    await waitForCredentials(name, 'settled', isInSync);
    await waitFor('the operation has ended', async () => {
      const operation = await getItem<KubeItem & { status?: { phase?: string } }>(
        cluster,
        NAMESPACE,
        'redisoperation',
        `rotate-${name}`,
      );
      return operation?.status?.phase === 'Succeeded';
    });
    const later = await newcomer.finish();
    expect(later).toMatchObject({ errors: 0, lost: [] });
    console.error(
      `e2e: rotation in ${((performance.now() - startedAt) / 1000).toFixed(1)} s with a killed agent: ` +
        `${report.acknowledged} + ${later.acknowledged} writes, 0 errors, longest client gap ${report.longestClientGapMs} ms`,
    );
    const after = await keepCanaries(name);
    for (const user of ['app', 'replication', 'sentinel', 'atoll']) {
      expect(after[user]).not.toBe(before[user]);
      expect(await loginsOf(name, user, after[user] ?? '')).toEqual(['PONG', 'PONG']);
      for (const answer of await loginsOf(name, user, before[user] ?? '')) expect(answer).toContain('WRONGPASS');
    }
    expect(Object.keys(after).filter((key) => /next|previous/.test(key))).toEqual([]);
    expect((await readConnection(cluster, NAMESPACE, name))['password']).toBe(after['app']);
    await provePeersReconnect(name);
    const operation = await getItem(cluster, NAMESPACE, 'redisoperation', `rotate-${name}`);
    expect(operation?.status).toMatchObject({ phase: 'Succeeded' });
  });

  it('of users that the spec adds follow it: rules, a new one, a removed one; rules that Redis refuses harm nobody', async () => {
    const name = 'users';
    const cache = { name: 'cache', rules: '~cache:* +@read' };
    await create(name, { ...STANDALONE_SPEC, auth: { users: [cache] } });
    const { 'user.cache': password = '' } = await keepCanaries(name);
    expect(await loginsOf(name, 'cache', password, 'GET cache:1')).toEqual(['null']);
    expect((await loginsOf(name, 'cache', password, 'SET cache:1 x'))[0]).toContain('NOPERM');
    const published = await waitFor('the Secret of the user', () =>
      getItem(cluster, NAMESPACE, 'secret', `${name}-user-cache`),
    );
    expect(Buffer.from(published.data?.['password'] ?? '', 'base64').toString()).toBe(password);

    const users = [
      { ...cache, rules: '~cache:* +@read +set' },
      { name: 'wrong', rules: '~* +no-such-command' },
    ];
    await applyRedisCluster(cluster, { namespace: NAMESPACE, name, spec: { ...STANDALONE_SPEC, auth: { users } } });
    await waitForCredentials(name, 'the wrong rules are told', ({ reason }) => reason === 'UserRulesRefused');
    await keepCanaries(name);
    expect(await loginsOf(name, 'cache', password, 'SET cache:1 x')).toEqual(['OK']);
    const [pod] = await dataPods(cluster, NAMESPACE, name);
    await kubectl(cluster, ['delete', 'pod', pod?.metadata.name ?? '', '-n', NAMESPACE]);
    await waitLocallyReady(cluster, NAMESPACE, name);
    await waitFor(
      'the user is known to the new process',
      async () => {
        const [answer] = await loginsOf(name, 'cache', password, 'SET cache:1 x');
        return answer === 'OK';
      },
      PATIENCE_MS,
    );

    await applyRedisCluster(cluster, { namespace: NAMESPACE, name, spec: { ...STANDALONE_SPEC, auth: { users: [] } } });
    await waitFor(
      'user and Secret are gone',
      async () => {
        const [answer] = await loginsOf(name, 'cache', password);
        const secret = await getItem(cluster, NAMESPACE, 'secret', `${name}-user-cache`);
        return answer?.includes('WRONGPASS') === true && secret === undefined;
      },
      PATIENCE_MS,
    );
    await waitForCredentials(name, 'in sync', isInSync);
    expect(Object.keys(await keepCanaries(name)).sort()).toEqual(['app', 'atoll', 'replication', 'sentinel']);
  });

  it('are copied from a Secret only where its label allows it, follow it, and are set back when changed by hand', async () => {
    const name = 'copied';
    await makeSecret('mine', 'canary-mine-3fd1', true);
    const spec = { ...STANDALONE_SPEC, auth: { secretRef: { name: 'mine' } } };
    await create(name, spec);
    expect(await loginsOf(name, 'app', 'canary-mine-3fd1')).toEqual(['PONG']);

    canaries.add('canary-by-hand-77');
    const [pod] = await dataPods(cluster, NAMESPACE, name);
    const target = { namespace: NAMESPACE, name: pod?.metadata.name ?? '', instance: name };
    // Shown by the same connection: the agent may set it back before anybody could log in.
    const changed = await adminCli(cluster, target, [
      'ACL SETUSER app resetpass >canary-by-hand-77 +@admin',
      'ACL SETUSER default on nopass',
      'ACL LIST',
    ]);
    expect(changed).toMatch(/^user default on nopass /m);
    expect(changed).toContain(createHash('sha256').update('canary-by-hand-77').digest('hex'));
    await waitFor(
      'what was changed by hand is set back',
      async () => {
        const [byHand] = await loginsOf(name, 'app', 'canary-by-hand-77');
        const [ours] = await loginsOf(name, 'app', 'canary-mine-3fd1');
        return byHand?.includes('WRONGPASS') === true && ours === 'PONG';
      },
      PATIENCE_MS,
    );
    expect(await adminCli(cluster, target, ['ACL LIST'])).toMatch(/^user default off /m);

    await makeSecret('foreign', 'canary-foreign-91', false);
    await applyRedisCluster(cluster, {
      namespace: NAMESPACE,
      name,
      spec: { ...spec, auth: { secretRef: { name: 'foreign' } } },
    });
    await waitForCredentials(name, 'the Secret is refused', ({ reason }) => reason === 'SecretNotAllowed');
    expect(await loginsOf(name, 'app', 'canary-mine-3fd1')).toEqual(['PONG']);
    await makeSecret('foreign', 'canary-foreign-91', true);
    await waitFor(
      'the other Secret is followed',
      async () => {
        const [old] = await loginsOf(name, 'app', 'canary-mine-3fd1');
        const [ours] = await loginsOf(name, 'app', 'canary-foreign-91');
        return old?.includes('WRONGPASS') === true && ours === 'PONG';
      },
      PATIENCE_MS,
    );
    expect((await readConnection(cluster, NAMESPACE, name))['password']).toBe('canary-foreign-91');
  });
});

/** Links made before a rotation prove nothing: they are cut, and must come back with the new passwords. */
async function provePeersReconnect(name: string): Promise<void> {
  const selector = `app.kubernetes.io/instance=${name}`;
  const pods = (await listItems(cluster, NAMESPACE, 'pods', selector)).map(({ metadata }) => metadata.name);
  const primary = (await readLocal(cluster, NAMESPACE, name))?.status?.currentPrimary ?? '';
  const ask = (pod: string, commands: readonly string[]) =>
    adminCli(cluster, { namespace: NAMESPACE, name: pod, instance: name }, commands);
  await ask(primary, ['CLIENT KILL TYPE replica', 'CLIENT KILL USER sentinel']);
  await waitFor('the replica is linked again', async () =>
    /state=online/.test(await ask(primary, ['INFO replication'])),
  );
  for (const pod of pods.filter((each) => each.includes('-sentinel-'))) {
    await ask(pod, ['CLIENT KILL USER sentinel']);
    await waitFor(`${pod} sees a quorum`, async () => {
      const text = await ask(pod, ['SENTINEL MASTERS']);
      return /flags\s+master\s/.test(text) && /num-other-sentinels\s+2\s/.test(text);
    });
  }
}

it('no password that was ever valid stands in objects, events, logs, arguments or environments', async () => {
  const kinds = 'arc,redisoperations,pods,statefulsets,services,configmaps,pdb,events';
  const script = "cat /proc/[0-9]*/cmdline /proc/[0-9]*/environ 2>/dev/null | tr '\\0' '\\n'";
  const outputs: Record<string, string> = {
    objects: await kubectl(cluster, ['get', kinds, '-n', NAMESPACE, '-o', 'yaml']),
    processes: (await cluster.node(1).exec(['sh', '-c', script])).stdout,
    'log of Redis': await kubectl(cluster, [
      ...[
        'logs',
        '-n',
        NAMESPACE,
        '-l',
        'app.kubernetes.io/part-of=atoll',
        '--all-containers',
        '--prefix',
        '--tail=-1',
      ],
      '--max-log-requests=20',
    ]),
    'log of the hub': readFileSync(fleet.hub.logFile, 'utf8'),
  };
  for (const pod of await agentPods(cluster)) {
    outputs['log of the agent'] = await kubectl(cluster, ['logs', pod.metadata.name, '-n', AGENT_NAMESPACE]);
  }
  expect(outputs['log of Redis']).toContain('atoll:');
  expect(canaries.size).toBeGreaterThan(15);
  for (const canary of canaries) {
    const leaks = Object.entries(outputs)
      .filter(([, text]) => text.includes(canary))
      .map(([name]) => name);
    expect(leaks).toEqual([]);
  }
});
