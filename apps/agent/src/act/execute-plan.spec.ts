import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { FINALIZER, LABEL, SCOPE_CONFIG_MAP, asDataSetId } from '#domain';
import type { Action, DataSetRecord, KubeObject, Plan, RedisClusterObject } from '#domain';
import { RESOURCE, createKubeClient } from '#kube';
import type { KubeClient } from '#kube';
import { CREDENTIAL_USERS, decodeRecord, describeOwner, nameObjects } from '#manifests';
import { FakeKubeServer, connectFakeKube, startFakeRedis } from '#testing';
import type { FakeRedis, KubeFault } from '#testing';
import { RedisLink } from '#redis';
import { claimNamespace } from './claim-namespace.ts';
import { executePlan } from './execute-plan.ts';
import { FencedError } from './execution-context.ts';
import type { ExecutionContext } from './execution-context.ts';

const dataSetId = asDataSetId('d-1');
const names = nameObjects('cache', dataSetId);
const owner = describeOwner({ name: 'cache', namespace: 'shop', dataSetId, renderVersion: 1 });
const told = { reason: 'Test', message: 'It is a test.', disruptive: false };

let server: FakeKubeServer;
let client: KubeClient;
let resource: RedisClusterObject;
let fenced: boolean;
let redis: FakeRedis;
let link: RedisLink;

const planOf = (...actions: Action[]): Plan => ({ actions }) as unknown as Plan;
const context = (): ExecutionContext => ({
  client,
  resource,
  namespace: 'shop',
  owner,
  names,
  assertMayWrite: () => {
    if (fenced) throw new FencedError();
  },
  findRedis: (pod) => (pod === 'cache-0' ? link : undefined),
  findSentinel: () => undefined,
  forgetSecret: () => undefined,
  aclExpectation: () => ({ users: {}, goners: [] }),
  noteRejectedConfig: () => undefined,
});
const run = (...actions: Action[]) => executePlan(planOf(...actions), context());
const answerWith = (code: number, reason: string, when: KubeFault['when']): void =>
  server.inject({ when, act: { kind: 'status', code, reason } });
const writes = (): number => server.requests.filter((request) => request.method !== 'GET').length;
const service = (name: string): KubeObject => ({
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { name, namespace: 'shop', labels: { [LABEL.dataSet]: owner.dataSetHash } },
  spec: { ports: [{ port: 6379 }] },
});
const apply = (name: string): Action => ({ ...told, kind: 'ApplyChild', object: service(name) });
const secretValues = async (name: string): Promise<Record<string, string>> =>
  ((await client.get(RESOURCE.secret, { namespace: 'shop', name }))['data'] ?? {}) as Record<string, string>;

beforeEach(async () => {
  fenced = false;
  server = await FakeKubeServer.start();
  client = createKubeClient(connectFakeKube(server), { userAgent: 'test/0' });
  resource = await client.create<RedisClusterObject>({
    apiVersion: 'redis.atoll.dev/v1alpha1',
    kind: 'RedisCluster',
    metadata: { name: 'cache', namespace: 'shop', finalizers: ['other.example/keep'] },
    spec: { engine: { type: 'Redis', version: '8.0' }, mode: 'Standalone' },
  });
  redis = await startFakeRedis({ role: 'slave', masterHost: '127.255.255.254', masterPort: 1, runId: 'r1' });
  link = new RedisLink({ host: '127.0.0.1', port: redis.port, credentials: () => undefined });
  server.requests.length = 0;
});
afterEach(async () => {
  link.close();
  await redis.stop();
  await client.close();
  await server.stop();
});

describe('executePlan', () => {
  it('carries out actions in order, and again without harm', async () => {
    const first = await run(apply('a'), apply('b'));
    expect(first.failure).toBeUndefined();
    expect(first.done).toHaveLength(2);
    const version = (await client.get(RESOURCE.service, { namespace: 'shop', name: 'a' })).metadata.resourceVersion;
    await run(apply('a'), apply('b'));
    const again = await client.get(RESOURCE.service, { namespace: 'shop', name: 'a' });
    expect(again.metadata.resourceVersion).toBe(version);
  });

  it('stops at the first failure, says which and why, and leaves the rest undone', async () => {
    answerWith(403, 'Forbidden', (request) => request.path.endsWith('/services/b'));
    const result = await run(apply('a'), apply('b'), apply('c'));
    expect(result.done).toHaveLength(1);
    expect(result.failure).toMatchObject({ reason: 'ApplyChildFailed' });
    expect(await client.find(RESOURCE.service, { namespace: 'shop', name: 'c' })).toBeUndefined();
  });

  it('repairs go on although Kubernetes refuses an object; further objects and restarts do not', async () => {
    answerWith(422, 'Invalid', (request) => request.path.endsWith('/services/b'));
    const safely = { expectRunId: 'r1', onlyIfEmpty: false, onlyIfWaiting: true };
    const promote: Action = { ...told, kind: 'PromotePod', pod: 'cache-0', ...safely };
    const evict: Action = { ...told, kind: 'EvictPod', pod: 'cache-0', podUid: 'u' };
    const result = await run(apply('b'), apply('c'), promote, evict);
    expect(result.done).toEqual([promote]);
    expect(result.failure).toMatchObject({ reason: 'ApplyChildFailed' });
    expect(redis.state.role).toBe('master');
    expect(await client.find(RESOURCE.service, { namespace: 'shop', name: 'c' })).toBeUndefined();
  });

  it('a Secret of others under the name of one of ours, or one that is refused, holds up nothing', async () => {
    const name = 'cache-user-metrics';
    await client.create({ apiVersion: 'v1', kind: 'Secret', metadata: { name, namespace: 'shop' } });
    const users = [...CREDENTIAL_USERS];
    const at = { namespace: 'shop', name: names.credentialsSecret };
    const create: Action = { ...told, kind: 'CreateCredentials', key: at, dataSetHash: owner.dataSetHash, users };
    const publish = (key: string): Action => ({
      ...told,
      kind: 'PublishConnection',
      key: { namespace: 'shop', name: key },
      fields: {},
    });
    const record: DataSetRecord = { dataSetId, primaryTerm: 2, renderVersion: 1 };
    const write: Action = { ...told, kind: 'WriteRecord', key: { namespace: 'shop', name: names.record }, record };
    const safely = { expectRunId: 'r1', onlyIfEmpty: false, onlyIfWaiting: true };
    const promote: Action = { ...told, kind: 'PromotePod', pod: 'cache-0', ...safely };
    const forbid = (): void =>
      answerWith(403, 'Forbidden', ({ path, method }) => method === 'PATCH' && path.endsWith(names.connectionSecret));
    forbid();
    const result = await run(create, publish(name), publish(names.connectionSecret), write, promote, apply('a'));
    expect(result.done).toEqual([create, write, promote, apply('a')]);
    expect(redis.state.role).toBe('master');
    expect(result.failure?.message).toContain(`Secret ${name} exists and was not made for this RedisCluster`);
    forbid();
    const { failure } = await run(publish(names.connectionSecret));
    expect(failure?.message).toContain(`Secret ${names.connectionSecret}: Forbidden (403). Look at`);
  });

  it('repairs are tried although one object gets no answer: a webhook that hangs is no API server that is away', async () => {
    server.inject({
      when: ({ path }) => path.endsWith('/services/b'),
      act: { kind: 'status', code: 504, reason: 'Timeout' },
    });
    const safely = { expectRunId: 'r1', onlyIfEmpty: false, onlyIfWaiting: true };
    const promote: Action = { ...told, kind: 'PromotePod', pod: 'cache-0', ...safely };
    expect((await run(apply('b'), apply('c'), promote)).done).toEqual([promote]);
  });

  it('no repair is tried after one that others rest on', async () => {
    const safely = { expectRunId: 'another', onlyIfEmpty: false, onlyIfWaiting: true };
    const promote: Action = { ...told, kind: 'PromotePod', pod: 'cache-0', ...safely };
    const record: DataSetRecord = { dataSetId, primaryTerm: 1, renderVersion: 1 };
    const write: Action = { ...told, kind: 'WriteRecord', key: { namespace: 'shop', name: names.record }, record };
    answerWith(422, 'Invalid', (request) => request.path.endsWith('/services/b'));
    const result = await run(apply('b'), promote, write);
    expect(result.done).toEqual([]);
    expect(result.failure?.action.kind).toBe('ApplyChild');
  });

  it('writes nothing when the Lease is too old', async () => {
    fenced = true;
    const promote: Action = {
      ...told,
      kind: 'PromotePod',
      pod: 'cache-0',
      expectRunId: 'r1',
      onlyIfEmpty: true,
      onlyIfWaiting: true,
    };
    const record: DataSetRecord = { dataSetId, primaryTerm: 1, renderVersion: 1 };
    const key = { namespace: 'shop', name: names.credentialsSecret };
    const actions: Action[] = [
      apply('a'),
      promote,
      { ...told, kind: 'AddFinalizer' },
      { ...told, kind: 'WriteRecord', key: { namespace: 'shop', name: names.record }, record },
      { ...told, kind: 'CreateCredentials', key, dataSetHash: owner.dataSetHash, users: [...CREDENTIAL_USERS] },
      { ...told, kind: 'EvictPod', pod: 'cache-0', podUid: 'u' },
      { ...told, kind: 'LabelRole', pod: 'cache-0', podUid: 'u', role: 'primary' },
    ];
    for (const action of actions) {
      expect((await run(action)).failure, action.kind).toMatchObject({ reason: 'LeaseTooOld' });
    }
    expect(writes()).toBe(0);
    expect(redis.state.role).toBe('slave');
  });
});

describe('namesakes of children', () => {
  const foreign = (kind: string, name: string): KubeObject => ({
    apiVersion: 'v1',
    kind,
    metadata: { name, namespace: 'shop', labels: { app: 'theirs' } },
  });

  it('leaves a Service that somebody made under the name of a child as it is, and says so', async () => {
    const theirs = await client.create(foreign('Service', 'a'));
    const { failure } = await run(apply('a'));
    expect(failure).toMatchObject({ reason: 'ApplyChildRefused' });
    expect(failure?.message).toContain('Service a exists and was not made for this RedisCluster');
    expect(await client.get(RESOURCE.service, { namespace: 'shop', name: 'a' })).toEqual(theirs);
  });

  it('puts back the labels of a child that was applied before', async () => {
    await run(apply('a'));
    const at = { namespace: 'shop', name: 'a' };
    await client.patchMerge(RESOURCE.service, at, { metadata: { labels: { [LABEL.dataSet]: null } } });
    expect((await run(apply('a'))).failure).toBeUndefined();
    expect((await client.get(RESOURCE.service, at)).metadata.labels).toMatchObject({
      [LABEL.dataSet]: owner.dataSetHash,
    });
  });

  it('takes over what an earlier data set of the same RedisCluster left', async () => {
    const labels = { [LABEL.managedBy]: 'atoll', [LABEL.instance]: 'cache', [LABEL.dataSet]: 'earlier' };
    await client.create({ ...foreign('Service', 'a'), metadata: { name: 'a', namespace: 'shop', labels } });
    expect((await run(apply('a'))).failure).toBeUndefined();
  });

  it('never writes into a Secret of others', async () => {
    const theirs = await client.create(foreign('Secret', names.connectionSecret));
    const key = { namespace: 'shop', name: names.credentialsSecret };
    const create: Action = {
      ...told,
      kind: 'CreateCredentials',
      key,
      dataSetHash: owner.dataSetHash,
      users: [...CREDENTIAL_USERS],
    };
    const at = { namespace: 'shop', name: names.connectionSecret };
    const publish: Action = { ...told, kind: 'PublishConnection', key: at, fields: { host: 'cache.shop.svc' } };
    expect((await run(create, publish)).failure).toMatchObject({ reason: 'PublishConnectionRefused' });
    expect(await client.get(RESOURCE.secret, at)).toEqual(theirs);
  });
});

describe('finalizers', () => {
  it('adds and removes ours and keeps those of others', async () => {
    await run({ ...told, kind: 'AddFinalizer' });
    const at = { namespace: 'shop', name: 'cache' };
    expect((await client.get(RESOURCE.redisCluster, at)).metadata.finalizers).toEqual([
      'other.example/keep',
      FINALIZER,
    ]);
    await run({ ...told, kind: 'RemoveFinalizer' });
    expect((await client.get(RESOURCE.redisCluster, at)).metadata.finalizers).toEqual(['other.example/keep']);
  });

  it('does not touch a namesake that was made since', async () => {
    resource = { ...resource, metadata: { ...resource.metadata, uid: 'another' } };
    expect((await run({ ...told, kind: 'AddFinalizer' })).failure?.reason).toBe('AddFinalizerRefused');
    expect((await run({ ...told, kind: 'RemoveFinalizer' })).failure).toBeUndefined();
    expect(writes()).toBe(0);
  });
});

describe('DeleteChild', () => {
  const remove = (uid: string): Action => ({
    ...told,
    kind: 'DeleteChild',
    apiVersion: 'v1',
    objectKind: 'Service',
    key: { namespace: 'shop', name: 'a' },
    uid,
  });

  it('deletes the very object that was planned for, and takes an absent one as done', async () => {
    const made = await client.create(service('a'));
    expect((await run(remove('another uid'))).failure).toBeUndefined();
    expect(await client.find(RESOURCE.service, { namespace: 'shop', name: 'a' })).toBeDefined();
    expect((await run(remove(made.metadata.uid ?? ''))).failure).toBeUndefined();
    expect(await client.find(RESOURCE.service, { namespace: 'shop', name: 'a' })).toBeUndefined();
    expect((await run(remove(made.metadata.uid ?? ''))).failure).toBeUndefined();
  });

  it('refuses what is not labelled as of this data set', async () => {
    const made = await client.create({ ...service('a'), metadata: { name: 'a', namespace: 'shop' } });
    expect((await run(remove(made.metadata.uid ?? ''))).failure?.reason).toBe('DeleteChildRefused');
    expect(await client.find(RESOURCE.service, { namespace: 'shop', name: 'a' })).toBeDefined();
  });
});

describe('Secrets', () => {
  const create: Action = {
    ...told,
    kind: 'CreateCredentials',
    key: { namespace: 'shop', name: names.credentialsSecret },
    dataSetHash: owner.dataSetHash,
    users: [...CREDENTIAL_USERS],
  };
  const publish: Action = {
    ...told,
    kind: 'PublishConnection',
    key: { namespace: 'shop', name: names.connectionSecret },
    fields: { host: 'cache.shop.svc', username: 'app' },
  };

  it('makes a password of its own for each user and never writes over them', async () => {
    await run(create);
    const values = await secretValues(names.credentialsSecret);
    expect(Object.keys(values).sort()).toEqual([...CREDENTIAL_USERS].sort());
    expect(new Set(Object.values(values)).size).toBe(CREDENTIAL_USERS.length);
    expect((await run(create)).failure).toBeUndefined();
    expect(await secretValues(names.credentialsSecret)).toEqual(values);
  });

  it('refuses to fill up a Secret of that name that lacks users', async () => {
    const metadata = { name: names.credentialsSecret, namespace: 'shop' };
    await client.create({ apiVersion: 'v1', kind: 'Secret', metadata, data: { app: 'eA==' } });
    const { failure } = await run(create);
    expect(failure?.reason).toBe('CreateCredentialsRefused');
    expect(await secretValues(names.credentialsSecret)).toEqual({ app: 'eA==' });
  });

  it('publishes the password of the application and no other', async () => {
    expect((await run(publish)).failure?.reason).toBe('PublishConnectionRefused');
    await run(create, publish);
    const credentials = await secretValues(names.credentialsSecret);
    const connection = await secretValues(names.connectionSecret);
    expect(connection['password']).toBe(credentials['app']);
    expect(Object.keys(connection).sort()).toEqual(['host', 'password', 'username']);
  });

  it('tells no password in a failure', async () => {
    answerWith(422, 'Invalid', (request) => request.method === 'POST');
    const { failure } = await run(create);
    expect(failure?.message).toBe(`The API server refused Secret ${names.credentialsSecret}: Invalid (422).`);
  });
});

describe('WriteRecord', () => {
  const write = (record: Partial<DataSetRecord>): Action => ({
    ...told,
    kind: 'WriteRecord',
    key: { namespace: 'shop', name: names.record },
    record: { dataSetId, primaryTerm: 1, renderVersion: 1, ...record },
  });

  it('never lets the primary term go back, nor another data set take the record', async () => {
    await run(write({ primaryTerm: 3, primaryPod: 'cache-1' }));
    expect((await run(write({ primaryTerm: 2 }))).failure?.reason).toBe('WriteRecordRefused');
    expect((await run(write({ dataSetId: asDataSetId('d-2'), primaryTerm: 9 }))).failure).toBeDefined();
    const live = await client.get(RESOURCE.configMap, { namespace: 'shop', name: names.record });
    expect(decodeRecord(live)).toMatchObject({ primaryTerm: 3, primaryPod: 'cache-1' });
  });
});

describe('pods', () => {
  const promote = (expectRunId: string): Action => ({
    ...told,
    kind: 'PromotePod',
    pod: 'cache-0',
    expectRunId,
    onlyIfEmpty: true,
    onlyIfWaiting: true,
  });
  const makePod = (labels: Record<string, string> = { a: 'b' }) =>
    client.create({
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'cache-0', namespace: 'shop', labels },
      spec: { containers: [{ name: 'redis', image: 'redis:8.0' }] },
    });

  it('promotes the process that was planned for and no other', async () => {
    expect((await run(promote('another process'))).failure).toMatchObject({ reason: 'PromotePodRefused' });
    expect(redis.state.role).toBe('slave');
    expect((await run(promote('r1'))).failure).toBeUndefined();
    expect(redis.state.role).toBe('master');
  });

  it('promotes no pod that has keys when the plan says only if empty', async () => {
    redis.state.keys = 5;
    expect((await run(promote('r1'))).failure?.reason).toBe('PromotePodRefused');
    expect(redis.state.role).toBe('slave');
  });

  it('refuses a pod that the pass had no connection to', async () => {
    const action: Action = { ...told, kind: 'SetConfig', pod: 'cache-9', values: { maxmemory: '1' } };
    expect((await run(action)).failure).toMatchObject({ reason: 'SetConfigRefused' });
  });

  it('labels the pod with its role and leaves its successor alone', async () => {
    const pod = await makePod();
    const label = (podUid: string): Action => ({ ...told, kind: 'LabelRole', pod: 'cache-0', podUid, role: 'primary' });
    await run(label('the one before'));
    expect((await client.get(RESOURCE.pod, { namespace: 'shop', name: 'cache-0' })).metadata.labels).toEqual({
      a: 'b',
    });
    await run(label(pod.metadata.uid ?? ''));
    const labels = (await client.get(RESOURCE.pod, { namespace: 'shop', name: 'cache-0' })).metadata.labels;
    expect(labels).toEqual({ a: 'b', [LABEL.role]: 'primary' });
  });

  it('evicts by uid, takes an absent pod as done and a budget as a refusal', async () => {
    const evict = (podUid: string): Action => ({ ...told, kind: 'EvictPod', pod: 'cache-0', podUid });
    expect((await run(evict('u'))).failure).toBeUndefined();
    const pod = await makePod();
    answerWith(429, 'TooManyRequests', (request) => request.method === 'POST');
    expect((await run(evict(pod.metadata.uid ?? ''))).failure?.reason).toBe('EvictPodRefused');
  });

  it('deletes a pod only by uid and only with the label of this data set', async () => {
    const remove = (podUid: string): Action => ({ ...told, kind: 'DeletePod', pod: 'cache-0', podUid, force: false });
    const find = () => client.find(RESOURCE.pod, { namespace: 'shop', name: 'cache-0' });
    expect((await run(remove('u'))).failure).toBeUndefined();
    const stranger = await makePod();
    expect((await run(remove(stranger.metadata.uid ?? ''))).failure?.reason).toBe('DeletePodRefused');
    expect(await find()).toBeDefined();
    await client.delete(RESOURCE.pod, { namespace: 'shop', name: 'cache-0' });
    const ours = await makePod({ [LABEL.dataSet]: owner.dataSetHash });
    expect((await run(remove('the one before'))).failure).toBeUndefined();
    expect(await find()).toBeDefined();
    expect((await run(remove(ours.metadata.uid ?? ''))).failure).toBeUndefined();
    expect(await find()).toBeUndefined();
  });
});

describe('claimNamespace', () => {
  it('makes the first one the owner and leaves an owner alone', async () => {
    await claimNamespace(client, 'shop', { kind: 'NAMESPACE', namespace: 'shop' });
    await claimNamespace(client, 'shop', { kind: 'CLUSTER' });
    const scope = await client.get(RESOURCE.configMap, { namespace: 'shop', name: SCOPE_CONFIG_MAP });
    expect(scope['data']).toEqual({ owner: 'NAMESPACE/shop' });
  });

  it('tells a namespace that is being deleted, where nothing can be made any more', async () => {
    const causes = [{ reason: 'NamespaceTerminating', message: 'namespace shop is being terminated' }];
    server.inject({
      when: ({ method }) => method === 'POST',
      act: { kind: 'status', code: 403, reason: 'Forbidden', causes },
    });
    expect(await claimNamespace(client, 'shop', { kind: 'CLUSTER' })).toBe('TERMINATING');
    expect(await claimNamespace(client, 'shop', { kind: 'CLUSTER' })).toBe('OWNED');
    answerWith(403, 'Forbidden', ({ method }) => method === 'POST');
    await expect(claimNamespace(client, 'shop', { kind: 'CLUSTER' })).rejects.toThrow();
  });
});

describe('edits by hand that an apply cannot take back', () => {
  it('replaces the list, since an apply leaves entries of others in it', async () => {
    const at = { namespace: 'shop', name: 'a' };
    await run(apply('a'));
    const ports = [{ name: 'theirs', port: 80 }, { port: 6379 }];
    await client.patchMerge(RESOURCE.service, at, { spec: { ports } }, { fieldManager: 'kubectl-edit' });
    // The fake server's apply replaces lists; a real one leaves entries of others in those that are merged by key.
    const keeping = { ...client, apply: () => client.get(RESOURCE.service, at) } as KubeClient;
    const { failure } = await executePlan(planOf(apply('a')), { ...context(), client: keeping });
    expect(failure).toBeUndefined();
    expect((await client.get(RESOURCE.service, at))['spec']).toEqual({ ports: [{ port: 6379 }] });
  });
});
