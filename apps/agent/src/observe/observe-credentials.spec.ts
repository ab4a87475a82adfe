import { beforeEach, describe, expect, it } from 'vitest';
import { FIELD_MANAGER, LABEL } from '#domain';
import type { AclUserSeen, KubeObject, RedisClusterSnapshot } from '#domain';
import type { KubeClient } from '#kube';
import { CREDENTIAL_USERS, describeOwner, renderConnection } from '#manifests';
import { drawSettled, silentFacts } from '#testing';
import { dataSetAccess, namesOf } from '../read-data-set.ts';
import { CredentialsObserver } from './observe-credentials.ts';
import type { LinkPool } from './link-pool.ts';
import { SecretReader } from './secret-reader.ts';

const encode = (values: Record<string, string>): Record<string, string> =>
  Object.fromEntries(Object.entries(values).map(([key, value]) => [key, Buffer.from(value).toString('base64')]));
const secretOf = (name: string, values: Record<string, string>, metadata: object = {}): KubeObject => ({
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: { name, namespace: 'shop', ...metadata },
  data: encode(values),
});
const allRight: AclUserSeen = {
  acceptsCurrent: true,
  acceptsPrevious: false,
  acceptsOthers: false,
  rulesAsWanted: true,
};

const snapshot = drawSettled({ auth: { users: [{ name: 'metrics', rules: '+@read ~*' }] } });
const names = namesOf(snapshot.resource);
const pods = Object.keys(snapshot.redis);
const passwords = Object.fromEntries([...CREDENTIAL_USERS, 'user.metrics'].map((key) => [key, `password-of-${key}`]));

let live: Map<string, KubeObject>;
/** Pods whose users were read. */
let asked: string[];
/** Pods that do not answer to that; and whether the end of some process was seen just now. */
let hanging: string[];
let sawExit: boolean;
const put = (object: KubeObject): void => void live.set(object.metadata.name, object);

beforeEach(() => {
  live = new Map();
  asked = [];
  hanging = [];
  sawExit = false;
  put(secretOf(names.credentialsSecret, passwords));
});

const look = (picture: RedisClusterSnapshot = snapshot): Promise<RedisClusterSnapshot> => {
  const client = { find: (_: unknown, { name }: { name: string }) => Promise.resolve(live.get(name)) };
  const clock = { nowMs: () => 0, monotonicMs: () => 0 };
  const link = (pod: string) => ({
    readAcl: () => {
      asked.push(pod);
      if (hanging.includes(pod)) return new Promise<never>(() => undefined);
      return Promise.resolve({ users: { app: allRight }, peerLoginCurrent: true });
    },
  });
  const links = {
    findRedis: (_: string, pod: string) => link(pod),
    findSentinel: (_: string, pod: string) => link(pod),
    sawExit: () => sawExit,
  };
  return new CredentialsObserver({
    secrets: new SecretReader(client as unknown as KubeClient, clock),
    links: links as unknown as LinkPool,
    access: dataSetAccess,
  }).add(picture);
};
const childrenOf = (picture: RedisClusterSnapshot): readonly string[] =>
  picture.children.map(({ metadata }) => metadata.name).filter((name) => name.startsWith('orders-user-'));

describe('Secrets of further users', () => {
  it('one of ours is a child without its data, and current as long as it tells the password', async () => {
    const owner = describeOwner({ name: 'orders', namespace: 'shop', dataSetId: 'd' as never, renderVersion: 1 });
    put(renderConnection(owner, 'orders-user-metrics', {}, 'password-of-user.metrics'));
    const picture = await look();
    expect(picture.userConnections).toEqual({ 'user.metrics': 'CURRENT' });
    expect(childrenOf(picture)).toEqual(['orders-user-metrics']);
    expect(JSON.stringify(picture)).not.toContain(Buffer.from('password-of-user.metrics').toString('base64'));
    put(renderConnection(owner, 'orders-user-metrics', {}, 'another'));
    expect((await look()).userConnections).toEqual({ 'user.metrics': 'OUTDATED' });
  });

  it('one that somebody else made is named, and neither a child nor something to be published', async () => {
    put(secretOf('orders-user-metrics', { password: 'theirs' }, { labels: { app: 'theirs' } }));
    const picture = await look();
    expect(picture.foreignSecrets).toEqual(['orders-user-metrics']);
    expect(picture.userConnections).toEqual({});
    expect(childrenOf(picture)).toEqual([]);
  });

  it('those of users of the spec are seen without the credentials too: else a deletion would leave them behind', async () => {
    live.delete(names.credentialsSecret);
    const labels = { [LABEL.managedBy]: 'atoll', [LABEL.instance]: 'orders', [LABEL.dataSet]: names.hash };
    put(secretOf('orders-user-metrics', { password: 'x' }, { labels }));
    const picture = await look();
    expect(childrenOf(picture)).toEqual(['orders-user-metrics']);
    expect(asked).toEqual([]);
  });

  it('one whose labels were taken off by hand is still ours', async () => {
    const managedFields = [{ manager: FIELD_MANAGER.operator, operation: 'Apply' }];
    put(secretOf('orders-user-metrics', {}, { labels: { [LABEL.name]: 'x' }, managedFields }));
    const picture = await look();
    expect(picture.foreignSecrets).toBeUndefined();
    expect(picture.userConnections).toEqual({ 'user.metrics': 'OUTDATED' });
  });
});

describe("Secrets of the user's", () => {
  const seenAs = async (password: string): Promise<unknown> => {
    const spec = { ...snapshot.resource.spec, auth: { secretRef: { name: 'mine' } } };
    put(secretOf('mine', { password }, { labels: { [LABEL.allow]: 'true' } }));
    return (await look({ ...snapshot, resource: { ...snapshot.resource, spec } })).copies;
  };

  it('are compared with the current password and the coming one, and with none before', async () => {
    put(secretOf(names.credentialsSecret, { ...passwords, 'app.next': 'coming', 'app.previous': 'before' }));
    expect(await seenAs('password-of-app')).toEqual({ app: 'SAME' });
    expect(await seenAs('coming')).toEqual({ app: 'NEXT' });
    expect(await seenAs('before')).toEqual({ app: 'DIFFERENT' });
    expect(await seenAs('')).toEqual({ app: 'UNUSABLE' });
  });
});

describe('users of servers', () => {
  it('are read from every server that answers', async () => {
    await look();
    expect(asked.sort()).toEqual([...pods, ...Object.keys(snapshot.sentinels)].sort());
  });

  it('are read from the others although one pod is silent: a removed user goes from those at once', async () => {
    const [silent = '', ...others] = pods;
    const picture = await look({ ...snapshot, redis: { ...snapshot.redis, [silent]: silentFacts() } });
    expect(asked).not.toContain(silent);
    expect(picture.redis[silent]).toEqual(silentFacts());
    for (const pod of others) expect(picture.redis[pod]).toMatchObject({ users: { app: allRight } });
  });

  it('cost no failover its time: after the end of a process was seen, who hangs is taken as not asked', async () => {
    const [slow = '', quick = ''] = pods;
    hanging = [slow];
    sawExit = true;
    const picture = await look();
    expect(picture.redis[slow]).toEqual(snapshot.redis[slow]);
    expect(picture.redis[quick]).toMatchObject({ users: { app: allRight } });
  });
});
