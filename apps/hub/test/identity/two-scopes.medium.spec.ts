/**
 * 03 "Who is who": key, session, revision, digests and outbox belong to the agent. Two real links, one of scope CLUSTER and one of
 * scope NAMESPACE, in one member cluster (one API server) and one hub: neither counts against the other.
 */
import { ANNOTATION } from '#domain';
import type { RedisClusterObject } from '#domain';
import { RESOURCE } from '#kube';
import { LinkWorld } from '#testing';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';

import { isPushedByAnother, Link } from '../../../agent/src/link/index.ts';
import type { LinkParts, LinkSettings } from '../../../agent/src/link/index.ts';
import { decodeGlobalId } from '../../src/platform/graphql/global-id.ts';
import type { Json } from '../api-client.ts';
import { createRedisCluster, startApi, type Api, type Created } from '../api-fixture.ts';
import { readDelivery } from '../link-fixture.ts';
import { WAIT } from '../wait.ts';

type ToldEvent = Parameters<Parameters<LinkParts['events']['onEvent']>[0]>[0];

const TEAM = 'team-a';

let api: Api;
let kube: LinkWorld;
let memberClusterId: string;
let wide: Link;
let own: Link;
const agentIds: Record<'wide' | 'own', string> = { wide: '', own: '' };
/** By the name of an object: whose passes ask its Redis, and what they find. */
const operated = new Map<string, { readonly by: 'CLUSTER' | 'NAMESPACE'; readonly keys: number }>();
const tellEvent = new Map<'CLUSTER' | 'NAMESPACE', (event: ToldEvent) => void>();
let inShop: Created;
let inTeam: Created;

beforeAll(async () => {
  api = await startApi();
  kube = await LinkWorld.start();
  await kube.client.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: TEAM } });
  await kube.client.create({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { namespace: TEAM, name: 'kube-root-ca.crt' },
    data: { 'ca.crt': 'the CA of this cluster' },
  });
});
afterAll(async () => {
  await kube.stop();
  await api.close();
});

const enrol = (input: object): Promise<Json> =>
  api.admin.mutate('enrolMemberCluster', input, 'agent { id } memberCluster { id } token');
const idOf = (payload: Json, of: string): string => String((payload[of] as Json)['id']);
const query = <T>(sql: string, values: readonly unknown[] = []): Promise<T[]> =>
  api.hub.runtime.dataSource.query<T[]>(sql, [...values]);

/** As lead.ts wires it. */
function run(settings: Partial<LinkSettings> & Pick<LinkSettings, 'scope'>): Link {
  const parts = kube.parts();
  const isMine = (object: RedisClusterObject): boolean => !isPushedByAnother(object, settings.scope);
  const isWatched = ({ metadata }: RedisClusterObject): boolean =>
    settings.scope.kind === 'CLUSTER' || metadata.namespace === settings.scope.namespace;
  const store = {
    ...parts.store,
    list: () => parts.store.list().filter((object) => isWatched(object) && isMine(object)),
    get: (key: Parameters<typeof parts.store.get>[0]) => {
      const object = parts.store.get(key);
      return object !== undefined && isWatched(object) && isMine(object) ? object : undefined;
    },
  };
  const guests = {
    list: () => parts.store.list().filter((object) => isWatched(object) && !isMine(object)),
    get: (key: Parameters<typeof parts.store.get>[0]) =>
      guests.list().find(({ metadata }) => metadata.name === key.name),
  };
  const { kind } = settings.scope;
  const numbersOf = ({ name }: { readonly name: string }): { keys: number } | undefined => {
    const found = operated.get(name);
    return found?.by === kind ? { keys: found.keys } : undefined;
  };
  const onEvent = (listener: (event: ToldEvent) => void): (() => void) => {
    tellEvent.set(kind, listener);
    return () => undefined;
  };
  const hub = { hubAddress: api.hub.ready.agentAddress, hubCa: api.hub.runtime.tls.caCertificate };
  return kube.run(
    new Link({ ...kube.settings(), ...hub, ...settings }, { ...parts, store, guests, numbersOf, events: { onEvent } }),
  );
}

async function untilPending(agentId: string): Promise<void> {
  await vi.waitFor(async () => {
    const [row] = await query<{ state: string }>('SELECT state FROM agent WHERE id = $1', [agentId]);
    expect(row?.state).toBe('PENDING_APPROVAL');
  }, WAIT);
}
const localId = (type: 'Agent', id: string): string => decodeGlobalId(type, id) ?? '';
const untilApplied = (hubUid: string): Promise<void> =>
  vi.waitFor(async () => expect(await readDelivery(api.hub, hubUid)).toMatchObject({ state: 'APPLIED' }), WAIT);

describe('two agents of different scope in one member cluster', () => {
  it('are joined by an administrator: the namespaced one shows the CA of the cluster and the uid of its namespace', async () => {
    const first = await enrol({ name: 'wide' });
    agentIds.wide = localId('Agent', idOf(first, 'agent'));
    memberClusterId = idOf(first, 'memberCluster');
    wide = run({ scope: { kind: 'CLUSTER' }, enrolmentToken: String(first['token']), instanceId: 'wide' });
    await untilPending(agentIds.wide);
    await api.admin.mutate('approveAgent', { agentId: idOf(first, 'agent') }, 'agent { id }');
    const second = await enrol({ name: 'team-a-own', scope: 'NAMESPACE', namespace: TEAM });
    agentIds.own = localId('Agent', idOf(second, 'agent'));
    own = run({
      scope: { kind: 'NAMESPACE', namespace: TEAM },
      namespace: TEAM,
      enrolmentToken: String(second['token']),
      instanceId: 'own',
    });
    await untilPending(agentIds.own);
    const approved = await api.admin.mutate(
      'approveAgent',
      { agentId: idOf(second, 'agent'), memberClusterId },
      'agent { fingerprint namespace } memberCluster { id fingerprint agents { scope state } } userErrors { message }',
    );
    expect(approved).toMatchObject({
      agent: { fingerprint: expect.stringMatching(/^rootCa:[0-9a-f]{64}\+ns:/) as string, namespace: TEAM },
      memberCluster: {
        id: memberClusterId,
        fingerprint: expect.stringMatching(/^kubeSystemUid:/) as string,
        agents: [
          { scope: 'CLUSTER', state: 'ACTIVE' },
          { scope: 'NAMESPACE', state: 'ACTIVE' },
        ],
      },
      userErrors: [],
    });
    await vi.waitFor(() => expect([wide, own].map((link) => link.state().connected)).toEqual([true, true]), WAIT);
  });

  it('each get the objects of their own namespaces, in their own revisions', async () => {
    inShop = await createRedisCluster(api, { memberClusterId, namespace: 'shop' });
    inTeam = await createRedisCluster(api, { memberClusterId, namespace: TEAM });
    const second = await createRedisCluster(api, { memberClusterId, namespace: TEAM });
    for (const { hubUid } of [inShop, inTeam, second]) await untilApplied(hubUid);
    const pushedBy = async (namespace: string, name: string): Promise<unknown> =>
      (await kube.client.get(RESOURCE.redisCluster, { namespace, name })).metadata.annotations?.[ANNOTATION.pushedBy];
    expect(await pushedBy('shop', inShop.name)).toBe('CLUSTER');
    expect(await pushedBy(TEAM, inTeam.name)).toBe(`NAMESPACE/${TEAM}`);
    const heads = await query<{ id: string; revision: number; acked: number }>(
      'SELECT agent_id AS id, revision, acked_revision AS acked FROM agent_spec_head WHERE agent_id = ANY($1)',
      [[agentIds.wide, agentIds.own]],
    );
    expect(heads).toHaveLength(2);
    expect(heads).toContainEqual({ id: agentIds.wide, revision: 1, acked: 1 });
    expect(heads).toContainEqual({ id: agentIds.own, revision: 2, acked: 2 });
    expect([wide, own].map((link) => link.state().appliedRevision)).toEqual([1, 2]);
  });

  it('never count what the other one holds: in step after a new session, nothing local, nothing gone', async () => {
    await Promise.all([wide.stop(), own.stop()]);
    wide = run({ scope: { kind: 'CLUSTER' }, instanceId: 'wide-2' });
    own = run({ scope: { kind: 'NAMESPACE', namespace: TEAM }, namespace: TEAM, instanceId: 'own-2' });
    await vi.waitFor(() => expect([wide, own].map((link) => link.state().connected)).toEqual([true, true]), WAIT);
    await vi.waitFor(async () => {
      const rows = await query<{ gone: boolean }>('SELECT gone FROM resource_status WHERE hub_uid = ANY($1)', [
        [inShop.hubUid, inTeam.hubUid],
      ]);
      expect(rows).toEqual([{ gone: false }, { gone: false }]);
    }, WAIT);
    const inventories = await api.hub.runtime.metrics.inventories.get();
    expect(inventories.values).toEqual([]);
    expect(await query('SELECT name FROM local_object')).toEqual([]);
  });

  it('tell events and numbers of what they operate, also of what the other one pushed', async () => {
    const at = { namespace: TEAM, name: inTeam.name };
    const setPhase = (phase: string): Promise<unknown> =>
      kube.client.patchMerge(RESOURCE.redisCluster, at, { status: { phase } }, { subresource: 'status' });
    const read = (): Promise<unknown[]> =>
      query('SELECT phase, numbers FROM resource_status WHERE hub_uid = $1', [inTeam.hubUid]);
    const until = (row: object): Promise<void> => vi.waitFor(async () => expect(await read()).toEqual([row]), WAIT);
    operated.set(inTeam.name, { by: 'NAMESPACE', keys: 1 });
    await setPhase('Ready');
    await until({ phase: 'Ready', numbers: { keys: 1 } });

    // Handed over: the other one's passes ask Redis from here on, and write the status.
    operated.set(inTeam.name, { by: 'CLUSTER', keys: 2 });
    await setPhase('Updating');
    await until({ phase: 'Updating', numbers: { keys: 2 } });
    const now = new Date().toISOString();
    const event = { severity: 'Warning', reason: 'Failover', message: 'm', first: now, last: now, count: 1 } as const;
    tellEvent.get('CLUSTER')?.({ key: at, hubUid: inTeam.hubUid, ...event });
    await vi.waitFor(async () => {
      const rows = await query('SELECT agent_id, reason FROM event WHERE hub_uid = $1', [inTeam.hubUid]);
      expect(rows).toEqual([{ agent_id: agentIds.wide, reason: 'Failover' }]);
    }, WAIT);

    // And back: its own agent's count again, and what the guest takes back does not touch them.
    operated.set(inTeam.name, { by: 'NAMESPACE', keys: 3 });
    await setPhase('Ready');
    await until({ phase: 'Ready', numbers: { keys: 3 } });
  });

  it('write nothing about what is outside their scope, whatever they tell', async () => {
    const now = new Date().toISOString();
    const event = { severity: 'Warning', reason: 'Forged', message: 'm', first: now, last: now, count: 1 } as const;
    tellEvent.get('NAMESPACE')?.({ key: { namespace: 'shop', name: inShop.name }, hubUid: inShop.hubUid, ...event });
    await vi.waitFor(async () => {
      const rows = await query(`SELECT agent_id, hub_uid FROM event WHERE reason = 'Forged'`);
      expect(rows).toEqual([{ agent_id: agentIds.own, hub_uid: null }]);
    }, WAIT);
  });

  it('say nothing of each other when one of them goes away', async () => {
    await own.stop();
    await kube.client.delete(RESOURCE.redisCluster, { namespace: 'shop', name: inShop.name });
    await vi.waitFor(
      async () => expect(await readDelivery(api.hub, inShop.hubUid)).toMatchObject({ state: 'DELETED_LOCALLY' }),
      WAIT,
    );
    expect(await readDelivery(api.hub, inTeam.hubUid)).toMatchObject({ state: 'APPLIED' });
    expect(await kube.client.find(RESOURCE.redisCluster, { namespace: TEAM, name: inTeam.name })).toBeDefined();
    own = run({ scope: { kind: 'NAMESPACE', namespace: TEAM }, namespace: TEAM, instanceId: 'own-3' });
  });

  it('show a hand-made object of the namespace once, though both see it', async () => {
    await kube.client.create({
      apiVersion: 'redis.atoll.dev/v1alpha1',
      kind: 'RedisCluster',
      metadata: { namespace: TEAM, name: 'by-hand' },
      spec: { mode: 'Standalone' },
    });
    await vi.waitFor(async () => {
      const rows = await query<{ agent: string }>(`SELECT agent_id AS agent FROM local_object WHERE name = 'by-hand'`);
      expect(rows).toHaveLength(2);
    }, WAIT);
    const { data } = await api.admin.query('query Q($id: ID!) { localObjects(memberClusterId: $id) { name } }', {
      id: memberClusterId,
    });
    expect(data).toEqual({ localObjects: [{ name: 'by-hand' }] });
  });
});
