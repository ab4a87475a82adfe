import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Json } from '../../../test/api-client.ts';
import {
  answerDelivery,
  clientWith,
  createRedisCluster,
  makeProject,
  newName,
  reportStatus,
  SPEC,
  startApi,
  type Api,
} from '../../../test/api-fixture.ts';
import { openSession } from '../../../test/link-fixture.ts';

const FIELDS = `redisCluster { id hubUid name namespace generation spec driftPolicy deleting
  delivery { state sync code generation appliedGeneration drift { path manager liveValue wantedValue } }
  memberCluster { id } project { name } status { phase } }`;
const NOWHERE = Buffer.from('RedisCluster:01939c7a-0000-7000-8000-0123456789ab').toString('base64url');

describe('mutations of RedisClusters', () => {
  let api: Api;
  beforeAll(async () => {
    api = await startApi();
  });
  afterAll(() => api.close());

  const mutate = (name: string, input: object): Promise<Json> => api.admin.mutate(name, input, FIELDS);
  const codes = (payload: Json): unknown[] =>
    (payload['userErrors'] as unknown as { code: string }[]).map((error) => error.code);
  const create = (input: object): Promise<Json> =>
    mutate('createRedisCluster', {
      memberClusterId: api.memberClusterId,
      namespace: 'shop',
      name: newName(),
      spec: SPEC,
      ...input,
    });
  const changed = { ...SPEC, size: 5 };

  describe('create', () => {
    it('stores the intent and tells the agent, without waiting for it', async () => {
      const { agent } = await openSession(api.hub, api.agent);
      const payload = await create({
        name: 'orders',
        spec: { ...SPEC, config: { 'maxmemory-policy': 'allkeys-lru' } },
      });
      expect(payload).toMatchObject({
        redisCluster: {
          name: 'orders',
          namespace: 'shop',
          generation: 1,
          deleting: false,
          driftPolicy: 'REPORT',
          spec: { engine: { type: 'Redis', version: '8.0' }, mode: 'Sentinel', size: 3 },
          delivery: { state: 'PENDING', sync: 'PENDING', generation: 1, appliedGeneration: null, drift: [] },
          memberCluster: { id: api.memberClusterId },
          project: { name: 'default' },
          status: null,
        },
        userErrors: [],
      });
      const delta = await agent.next('Delta');
      expect(delta.upserts).toMatchObject([{ name: 'orders', hubGeneration: 1, create: true, adopt: false }]);
      expect(delta.upserts[0]?.spec).toBe(
        '{"config":{"maxmemory-policy":"allkeys-lru"},"engine":{"type":"Redis","version":"8.0"},"mode":"Sentinel","size":3}',
      );
      agent.close();
    });

    it.each([
      ['a name that is no label', { name: 'Orders' }, 'INVALID_INPUT', ['input', 'name']],
      ['a namespace that is no label', { namespace: 'a_b' }, 'INVALID_INPUT', ['input', 'namespace']],
      [
        'a spec that the operator would refuse',
        { spec: { ...SPEC, size: 0 } },
        'INVALID_INPUT',
        ['input', 'spec', 'size'],
      ],
      ['a config that is no map', { spec: { ...SPEC, config: 'save' } }, 'INVALID_INPUT', ['input', 'spec', 'config']],
      ['an unknown member cluster', { memberClusterId: NOWHERE }, 'NOT_FOUND', ['input', 'memberClusterId']],
      ['an unknown project', { project: 'nope' }, 'NOT_FOUND', ['input', 'project']],
    ])('refuses %s, and points at the field', async (_what, input, code, field) => {
      const payload = await create(input);
      expect(payload['redisCluster']).toBeNull();
      expect(payload['userErrors']).toMatchObject([{ code, field }]);
    });

    it('refuses a taken name, and takes it again once the other is being deleted', async () => {
      const first = await createRedisCluster(api);
      expect(codes(await create({ name: first.name }))).toEqual(['ALREADY_EXISTS']);
      expect(codes(await create({ name: first.name, namespace: 'bank' }))).toEqual([]);
      await mutate('deleteRedisCluster', { id: first.id, expectedGeneration: 1 });
      expect(codes(await create({ name: first.name }))).toEqual([]);
    });

    it('refuses an object larger than the link carries', async () => {
      const config = Object.fromEntries(
        Array.from({ length: 60 }, (_, i) => [`proc-title-template-${i}`, 'x'.repeat(4_000)]),
      );
      expect(codes(await create({ spec: { ...SPEC, config } }))).toEqual(['OBJECT_TOO_LARGE']);
    });

    it('refuses a member cluster that waits for approval, and a namespace that nobody owns', async () => {
      const enrolled = await api.admin.mutate('enrolMemberCluster', { name: 'waiting' }, 'memberCluster { id }');
      const memberClusterId = (enrolled['memberCluster'] as Json)['id'];
      expect(await create({ memberClusterId })).toMatchObject({
        userErrors: [{ code: 'MEMBER_CLUSTER_NOT_APPROVED', memberClusterId }],
      });
      await api.hub.runtime.dataSource.query(`UPDATE member_cluster SET state = 'ACTIVE' WHERE name = 'waiting'`);
      expect(codes(await create({ memberClusterId }))).toEqual(['NO_AGENT_FOR_NAMESPACE']);
    });

    it('changes nothing on a dry run, and shows what it would make', async () => {
      const name = newName();
      const payload = await create({ name, dryRun: true });
      expect(payload).toMatchObject({ redisCluster: { name, generation: 1 }, userErrors: [] });
      const found = await api.admin.query(
        'query Q($f: RedisClusterFilter) { redisClusters(filter: $f) { totalCount } }',
        { f: { name } },
      );
      expect(found.data).toMatchObject({ redisClusters: { totalCount: 0 } });
      expect(codes(await create({ name, dryRun: true, spec: { ...SPEC, size: 0 } }))).toEqual(['INVALID_INPUT']);
    });
  });

  describe('update', () => {
    it('makes the next generation and says what it changes', async () => {
      const { id } = await createRedisCluster(api);
      const payload = await api.admin.mutate(
        'updateRedisCluster',
        { id, expectedGeneration: 1, spec: changed },
        `changedFields ${FIELDS}`,
      );
      expect(payload).toMatchObject({
        changedFields: ['spec.size'],
        redisCluster: { generation: 2, spec: { size: 5 }, delivery: { state: 'PENDING', generation: 2 } },
      });
    });

    it('makes no generation when nothing changes', async () => {
      const { id } = await createRedisCluster(api);
      const payload = await mutate('updateRedisCluster', { id, expectedGeneration: 1, spec: SPEC });
      expect(payload).toMatchObject({ redisCluster: { generation: 1 }, userErrors: [] });
    });

    it('refuses at once what may not change on a running data set, and points at it', async () => {
      const { id, hubUid } = await createRedisCluster(api);
      await answerDelivery(api.hub, hubUid);
      const spec = { ...SPEC, storage: { type: 'PERSISTENT_VOLUME', size: '1Gi' } };
      expect(await mutate('updateRedisCluster', { id, expectedGeneration: 1, spec })).toMatchObject({
        redisCluster: null,
        userErrors: [{ code: 'INVALID_INPUT', field: ['input', 'spec', 'storage', 'type'] }],
      });
      expect(codes(await mutate('updateRedisCluster', { id, expectedGeneration: 1, spec: changed }))).toEqual([]);
    });

    it('takes every field of the operator, with its enums, and stores the words of the custom resource', async () => {
      const { id } = await createRedisCluster(api);
      const spec = {
        ...SPEC,
        mode: 'REPLICATION',
        sentinel: null,
        resources: { limits: { memory: '1Gi' } },
        memory: { maxmemoryPercent: 60, policy: 'ALLKEYS_LRU' },
        auth: { rotation: { gracePeriod: '5m' }, users: [{ name: 'reader', rules: '~* +@read' }] },
        scheduling: { tolerations: [{ operator: 'EXISTS', effect: 'NO_SCHEDULE' }], spread: { zone: 'REQUIRED' } },
        updateStrategy: { type: 'ON_APPROVAL', partition: 1 },
        failover: { mode: 'MANUAL', dataLossPolicy: 'ALLOW', minReplicasToWrite: 0 },
        maintenanceWindows: [{ days: ['SUN'], start: '03:00', duration: '2h', timeZone: 'Europe/Berlin' }],
        networking: { mesh: 'ISTIO' },
        monitoring: { exporter: false },
        fencing: { enabled: false },
        persistence: { aof: { fsync: 'ALWAYS' }, rdb: { save: [{ seconds: 900, changes: 1 }] } },
        suspend: true,
      };
      expect(await mutate('updateRedisCluster', { id, expectedGeneration: 1, spec })).toMatchObject({
        userErrors: [],
        redisCluster: {
          spec: {
            memory: { maxmemoryPercent: 60, policy: 'allkeys-lru' },
            scheduling: { tolerations: [{ operator: 'Exists', effect: 'NoSchedule' }], spread: { zone: 'Required' } },
            updateStrategy: { type: 'OnApproval', partition: 1 },
            maintenanceWindows: [{ days: ['Sun'], start: '03:00', duration: '2h', timeZone: 'Europe/Berlin' }],
            persistence: { aof: { fsync: 'always' } },
            networking: { mesh: 'Istio' },
          },
        },
      });
    });

    it('measures a change against what lies in the member cluster, not against what was refused there', async () => {
      const { id, hubUid } = await createRedisCluster(api);
      await answerDelivery(api.hub, hubUid);
      await mutate('updateRedisCluster', { id, expectedGeneration: 1, spec: changed });
      await answerDelivery(api.hub, hubUid, { state: 'REJECTED', code: 'SPEC_REJECTED' });
      const other = { ...SPEC, storage: { type: 'PERSISTENT_VOLUME', size: '1Gi' } };
      expect(codes(await mutate('updateRedisCluster', { id, expectedGeneration: 2, spec: other }))).toEqual([
        'INVALID_INPUT',
      ]);
      const never = await createRedisCluster(api);
      await answerDelivery(api.hub, never.hubUid, { state: 'REJECTED', code: 'SPEC_REJECTED' });
      const mended = await mutate('updateRedisCluster', { id: never.id, expectedGeneration: 1, spec: other });
      expect(mended).toMatchObject({
        redisCluster: { generation: 2, spec: { storage: { size: '1Gi' } } },
        userErrors: [],
      });
    });

    it('tries a refused spec again when it is sent again', async () => {
      const { id, hubUid } = await createRedisCluster(api);
      await answerDelivery(api.hub, hubUid, { state: 'REJECTED', code: 'CRD_TOO_OLD' });
      const payload = await mutate('updateRedisCluster', { id, expectedGeneration: 1, spec: SPEC });
      expect(payload).toMatchObject({ redisCluster: { generation: 2, delivery: { sync: 'PENDING' } } });
    });

    it('refuses another generation than the one seen, and tells what others changed', async () => {
      const { id } = await createRedisCluster(api);
      await mutate('updateRedisCluster', { id, expectedGeneration: 1, spec: changed, driftPolicy: 'REVERT' });
      const payload = await mutate('updateRedisCluster', { id, expectedGeneration: 1, spec: { ...SPEC, size: 4 } });
      expect(payload).toMatchObject({
        redisCluster: null,
        userErrors: [{ code: 'GENERATION_CONFLICT', changedFields: ['spec.size', 'driftPolicy'] }],
      });
    });

    it('is forced by an explicit null, and refused without any generation', async () => {
      const { id } = await createRedisCluster(api);
      expect(codes(await mutate('updateRedisCluster', { id, spec: changed }))).toEqual(['INVALID_INPUT']);
      const forced = await mutate('updateRedisCluster', { id, expectedGeneration: null, spec: changed });
      expect(forced).toMatchObject({ redisCluster: { generation: 2 }, userErrors: [] });
    });

    it('of two at once, lets one through', async () => {
      const { id } = await createRedisCluster(api);
      const both = await Promise.all(
        [4, 5].map((size) => mutate('updateRedisCluster', { id, expectedGeneration: 1, spec: { ...SPEC, size } })),
      );
      expect(both.flatMap(codes)).toEqual(['GENERATION_CONFLICT']);
    });

    it('refuses an invalid spec and an object that is not there', async () => {
      const { id } = await createRedisCluster(api);
      const invalid = { ...SPEC, mode: 'STANDALONE', size: 3 };
      expect(codes(await mutate('updateRedisCluster', { id, expectedGeneration: 1, spec: invalid }))).toEqual([
        'INVALID_INPUT',
      ]);
      expect(codes(await mutate('updateRedisCluster', { id: NOWHERE, expectedGeneration: 1, spec: SPEC }))).toEqual([
        'NOT_FOUND',
      ]);
      expect(codes(await mutate('updateRedisCluster', { id: 'nonsense', expectedGeneration: 1, spec: SPEC }))).toEqual([
        'NOT_FOUND',
      ]);
    });

    it('shows the change of a dry run without making it', async () => {
      const { id } = await createRedisCluster(api);
      const payload = await mutate('updateRedisCluster', { id, expectedGeneration: 1, spec: changed, dryRun: true });
      expect(payload).toMatchObject({ redisCluster: { generation: 2, spec: { size: 5 } } });
      const after = await api.admin.query('query Q($id: ID!) { redisCluster(id: $id) { generation } }', { id });
      expect(after.data).toMatchObject({ redisCluster: { generation: 1 } });
    });
  });

  describe('delete and forget', () => {
    it('leave a tombstone until the agent has acknowledged it', async () => {
      const { id } = await createRedisCluster(api);
      const payload = await mutate('deleteRedisCluster', { id, expectedGeneration: 1 });
      expect(payload).toMatchObject({
        redisCluster: { deleting: true, delivery: { sync: 'DELETING' } },
        userErrors: [],
      });
      expect(codes(await mutate('updateRedisCluster', { id, expectedGeneration: 1, spec: changed }))).toEqual([
        'BEING_DELETED',
      ]);
      expect(codes(await mutate('deleteRedisCluster', { id, expectedGeneration: 1 }))).toEqual([]);
    });

    it('refuse another generation than the one seen', async () => {
      const { id } = await createRedisCluster(api);
      expect(codes(await mutate('deleteRedisCluster', { id, expectedGeneration: 7 }))).toEqual(['GENERATION_CONFLICT']);
      expect(codes(await mutate('forgetRedisCluster', { id, expectedGeneration: 7 }))).toEqual(['GENERATION_CONFLICT']);
    });

    it('respect deletionPolicy DENY, unless the object is left in place', async () => {
      const { id } = await createRedisCluster(api, { spec: { ...SPEC, deletionPolicy: 'DENY' } });
      expect(codes(await mutate('deleteRedisCluster', { id, expectedGeneration: 1 }))).toEqual(['DELETION_DENIED']);
      expect(codes(await mutate('deleteRedisCluster', { id, expectedGeneration: 1, orphan: true }))).toEqual([]);
    });

    it('forget frees the name at once and says whether something may be left', async () => {
      const { id, hubUid, name } = await createRedisCluster(api);
      await answerDelivery(api.hub, hubUid);
      const fields = 'orphaned redisCluster { deleting }';
      const payload = await api.admin.mutate('forgetRedisCluster', { id, expectedGeneration: 1 }, fields);
      expect(payload).toMatchObject({ orphaned: true, redisCluster: { deleting: true } });
      expect(codes(await create({ name }))).toEqual([]);
    });

    it('forget removes the row at once when the agent was revoked, and delete says that nobody can', async () => {
      const { id, hubUid } = await createRedisCluster(api);
      const { dataSource } = api.hub.runtime;
      await dataSource.query(`UPDATE agent SET state = 'REVOKED' WHERE id = $1`, [api.agent.agentId]);
      const refused = await mutate('deleteRedisCluster', { id, expectedGeneration: 1 });
      const forgotten = await mutate('forgetRedisCluster', { id, expectedGeneration: 1 });
      await dataSource.query(`UPDATE agent SET state = 'ACTIVE' WHERE id = $1`, [api.agent.agentId]);
      expect(codes(refused)).toEqual(['AGENT_REVOKED']);
      expect(forgotten).toMatchObject({ redisCluster: null, userErrors: [] });
      expect(await dataSource.query('SELECT 1 FROM resource WHERE hub_uid = $1', [hubUid])).toEqual([]);
    });
  });

  describe('drift', () => {
    const sizeEdited = { path: 'spec.size', manager: 'kubectl-edit', liveValue: '5' };
    const drifted = async (fields: readonly object[] = [sizeEdited]) => {
      const made = await createRedisCluster(api);
      await answerDelivery(api.hub, made.hubUid);
      await reportStatus(api.hub, made.hubUid, { foreignFields: fields });
      return made;
    };

    it('is shown with field, manager, live and wanted value', async () => {
      const { id } = await drifted();
      const answer = await api.admin.query(
        'query Q($id: ID!) { redisCluster(id: $id) { delivery { state sync drift { path manager liveValue wantedValue } } } }',
        { id },
      );
      expect(answer.data).toEqual({
        redisCluster: {
          delivery: {
            state: 'APPLIED',
            sync: 'DRIFTED',
            drift: [{ path: 'spec.size', manager: 'kubectl-edit', liveValue: 5, wantedValue: 3 }],
          },
        },
      });
    });

    it('accepted becomes the wanted spec', async () => {
      const { id } = await drifted();
      const payload = await mutate('acceptDrift', { id, expectedGeneration: 1 });
      expect(payload).toMatchObject({
        redisCluster: { generation: 2, spec: { size: 5 }, delivery: { sync: 'PENDING', drift: [] } },
      });
    });

    it('reverted is sent with the fields to take back, once', async () => {
      const { id, hubUid } = await drifted();
      const fields = async (): Promise<unknown> => {
        const rows = await api.hub.runtime.dataSource.query<{ revert_fields: unknown }[]>(
          'SELECT revert_fields, spec FROM resource WHERE hub_uid = $1',
          [hubUid],
        );
        return rows[0]?.revert_fields;
      };
      const payload = await mutate('revertDrift', { id, expectedGeneration: 1 });
      expect(payload).toMatchObject({
        redisCluster: { generation: 2, spec: { size: 3 }, delivery: { sync: 'PENDING' } },
      });
      expect(await fields()).toEqual(['spec.size']);
      await mutate('updateRedisCluster', { id, expectedGeneration: 2, spec: changed });
      expect(await fields()).toBeNull();
    });

    it('may be accepted field by field', async () => {
      const other = { path: 'spec.config.timeout', manager: 'helm', liveValue: '"30"' };
      const { id } = await drifted([sizeEdited, other]);
      expect(codes(await mutate('acceptDrift', { id, expectedGeneration: 1, paths: ['spec.mode'] }))).toEqual([
        'NOT_DRIFTED',
      ]);
      const payload = await mutate('acceptDrift', { id, expectedGeneration: 1, paths: ['spec.config.timeout'] });
      expect(payload).toMatchObject({ redisCluster: { spec: { size: 3, config: { timeout: '30' } } } });
    });

    it('that makes no valid spec is not accepted', async () => {
      const { id } = await drifted([{ path: 'spec.size', manager: 'kubectl-edit', liveValue: '0' }]);
      expect(codes(await mutate('acceptDrift', { id, expectedGeneration: 1 }))).toEqual(['SPEC_REJECTED']);
    });

    it('is NOT_DRIFTED where there is none', async () => {
      const { id } = await drifted([]);
      expect(codes(await mutate('acceptDrift', { id, expectedGeneration: 1 }))).toEqual(['NOT_DRIFTED']);
      expect(codes(await mutate('revertDrift', { id, expectedGeneration: 1 }))).toEqual(['NOT_DRIFTED']);
    });
  });

  describe('an object that was deleted by hand', () => {
    it('is recreated under the same hubUid, and only then', async () => {
      const { id, hubUid } = await createRedisCluster(api);
      await answerDelivery(api.hub, hubUid);
      await reportStatus(api.hub, hubUid);
      expect(codes(await mutate('recreateRedisCluster', { id, expectedGeneration: 1 }))).toEqual([
        'NOT_DELETED_LOCALLY',
      ]);
      await reportStatus(api.hub, hubUid, { gone: true });
      const payload = await mutate('recreateRedisCluster', { id, expectedGeneration: 1 });
      expect(payload).toMatchObject({ redisCluster: { hubUid, generation: 2, delivery: { sync: 'PENDING' } } });
      const rows = await api.hub.runtime.dataSource.query<object[]>(
        'SELECT create_allowed FROM resource WHERE hub_uid = $1',
        [hubUid],
      );
      expect(rows).toEqual([{ create_allowed: true }]);
    });

    it('is forgotten with nothing left behind', async () => {
      const { id, hubUid } = await createRedisCluster(api);
      await answerDelivery(api.hub, hubUid, { state: 'DELETED_LOCALLY', code: 'DELETED_LOCALLY' });
      const payload = await api.admin.mutate('forgetRedisCluster', { id, expectedGeneration: 1 }, 'orphaned');
      expect(payload).toMatchObject({ orphaned: false, userErrors: [] });
    });
  });

  describe('rights', () => {
    it('a viewer may look, and is told which role a change takes', async () => {
      const made = await createRedisCluster(api);
      const { client } = await clientWith(api.hub, [{ role: 'VIEWER', projectId: null }]);
      const input = { id: made.id, expectedGeneration: 1 };
      for (const name of [
        'deleteRedisCluster',
        'forgetRedisCluster',
        'acceptDrift',
        'revertDrift',
        'recreateRedisCluster',
      ]) {
        expect(await client.mutate(name, input, 'redisCluster { id }')).toMatchObject({
          userErrors: [{ code: 'FORBIDDEN' }],
        });
      }
      const spec = { ...input, spec: changed };
      expect(codes(await client.mutate('updateRedisCluster', spec, 'redisCluster { id }'))).toEqual(['FORBIDDEN']);
      const creation = { memberClusterId: api.memberClusterId, namespace: 'shop', name: newName(), spec: SPEC };
      expect(codes(await client.mutate('createRedisCluster', creation, 'redisCluster { id }'))).toEqual(['FORBIDDEN']);
      await client.close();
    });

    it('an operator of another project learns nothing, not even that it exists', async () => {
      const made = await createRedisCluster(api);
      const other = await makeProject(api.hub, 'other');
      const { client } = await clientWith(api.hub, [{ role: 'ADMIN', projectId: other.id }]);
      const real = await client.mutate(
        'deleteRedisCluster',
        { id: made.id, expectedGeneration: 9 },
        'redisCluster { id }',
      );
      const invented = await client.mutate(
        'deleteRedisCluster',
        { id: NOWHERE, expectedGeneration: 9 },
        'redisCluster { id }',
      );
      expect(real).toEqual(invented);
      const creation = { memberClusterId: api.memberClusterId, namespace: 'shop', name: newName(), spec: SPEC };
      expect(codes(await client.mutate('createRedisCluster', creation, 'redisCluster { id }'))).toEqual(['NOT_FOUND']);
      const own = await client.mutate(
        'createRedisCluster',
        { ...creation, project: 'other' },
        'redisCluster { project { name } }',
      );
      expect(own).toMatchObject({ redisCluster: { project: { name: 'other' } }, userErrors: [] });
      await client.close();
    });
  });
});
