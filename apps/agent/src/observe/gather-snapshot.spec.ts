import { describe, expect, it } from 'vitest';
import type { KubeObject, RedisNodeFacts } from '#domain';
import type { KubeClient } from '#kube';
import { CREDENTIAL_USERS } from '#manifests';
import { drawSettled, masterFacts } from '#testing';
import { dataSetAccess, namesOf } from '../read-data-set.ts';
import { Observer } from './gather-snapshot.ts';
import type { ObserverSettings } from './gather-snapshot.ts';
import type { CredentialsSource } from './link-pool.ts';
import { SecretReader } from './secret-reader.ts';

const { resource, pods } = drawSettled({ mode: 'Standalone' });
const [pod] = pods;
const names = namesOf(resource);
const secretOf = (values: Record<string, string>): KubeObject => ({
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: { name: names.credentialsSecret, namespace: 'shop' },
  data: Object.fromEntries(Object.entries(values).map(([key, value]) => [key, Buffer.from(value).toString('base64')])),
});
const refused = { reachable: false, reason: 'AUTH', message: 'The password was refused.' } as const;
const passwords = Object.fromEntries(CREDENTIAL_USERS.map((user) => [user, `password-of-${user}`]));

/** One look at a server that takes `password` of the agent, with the Secret as each read finds it. */
const look = async (password: string, ...secrets: Record<string, string>[]): Promise<RedisNodeFacts | undefined> => {
  let reads = 0;
  const find = (_: unknown, { name }: { name: string }) => {
    if (name !== names.credentialsSecret) return Promise.resolve(undefined);
    const values = secrets[Math.min(reads, secrets.length - 1)] ?? {};
    reads += 1;
    return Promise.resolve(secretOf(values));
  };
  const clock = { nowMs: () => 1_000_000, monotonicMs: () => 1_000_000 };
  const link = (login: CredentialsSource) => {
    let refusals = 0;
    return {
      probe: async (): Promise<RedisNodeFacts> => {
        const credentials = await login(refusals);
        if (credentials?.password === password) return masterFacts(pod?.name ?? '');
        refusals += 1;
        return refused;
      },
    };
  };
  const links = new Map<string, ReturnType<typeof link>>();
  const settings = {
    cache: {
      resource: () => resource,
      scopeRecord: () => ({ owner: 'CLUSTER' }),
      podsOf: () => [pod],
      childrenOf: () => [],
      nodes: () => [],
      isStale: () => false,
      definitionTerminates: () => false,
    },
    secrets: new SecretReader({ find } as unknown as KubeClient, clock),
    claims: { readUnlabelled: () => Promise.resolve([]) },
    operations: { of: () => undefined },
    links: {
      retain: () => undefined,
      sawExit: () => false,
      forgetExit: () => undefined,
      redis: (_: string, { name }: { name: string }, login: CredentialsSource) => {
        const known = links.get(name) ?? link(login);
        links.set(name, known);
        return known;
      },
    },
    access: dataSetAccess,
    ownsNamespace: () => true,
    clock,
    readHeardAtMs: () => Promise.resolve(undefined),
    readDefinitionTerminates: () => Promise.resolve(false),
  };
  const observer = new Observer(settings as unknown as ObserverSettings);
  return (await observer.observe({ namespace: 'shop', name: 'orders' }))?.redis[pod?.name ?? ''];
};

describe('a server that refuses the password of the agent', () => {
  it.each(['current', 'before', 'coming'])(
    'is reached in the same look by the %s one of a rotation',
    async (password) => {
      const values = { ...passwords, atoll: 'current', 'atoll.previous': 'before', 'atoll.next': 'coming' };
      expect(await look(password, values)).toMatchObject({ reachable: true });
    },
  );

  it('is asked again with the Secret as it is now, not as it was kept', async () => {
    const stale = { ...passwords, atoll: 'stale' };
    expect(await look('current', stale, { ...passwords, atoll: 'current' })).toMatchObject({ reachable: true });
  });

  it('is told to refuse only when it takes none', async () => {
    const values = { ...passwords, atoll: 'current', 'atoll.previous': 'before' };
    expect(await look('another', values)).toEqual(refused);
  });
});
