import { describe, expect, it } from 'vitest';
import { LABEL } from '#domain';
import type { KubeObject, Plan, RedisClusterSnapshot } from '#domain';
import { CREDENTIAL_USERS } from '#manifests';
import { NOW_MS, drawSettled, silentFacts } from '#testing';
import { buildClusterView } from '../cluster-view.ts';
import { planRedisCluster } from '../plan-redis-cluster.ts';
import { DEFAULT_PLANNER_POLICY } from '../planner-input.ts';

const policy = DEFAULT_PLANNER_POLICY;
const plan = (snapshot: RedisClusterSnapshot): Plan => planRedisCluster({ snapshot, nowMs: NOW_MS, policy });
const namesOf = (snapshot: RedisClusterSnapshot) => buildClusterView({ snapshot, nowMs: NOW_MS, policy }).names;
const condition = (made: Plan, wanted: string) => made.status.conditions.find(({ type }) => type === wanted);

/** With these keys in the credentials Secret, and every server as they say. */
const withKeys = (snapshot: RedisClusterSnapshot, ...further: string[]): RedisClusterSnapshot => {
  const { credentialsSecret } = namesOf(snapshot);
  const keys = [...CREDENTIAL_USERS, ...further];
  const children = snapshot.children.map((child) =>
    child.metadata.name === credentialsSecret ? { ...child, keys } : child,
  );
  return { ...snapshot, children };
};
const metrics = { auth: { users: [{ name: 'metrics', rules: '+@read ~*' }] } };
const secret = (name: string, labels: Record<string, string>): KubeObject => ({
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: { name, namespace: 'shop', uid: `uid-${name}`, labels },
});

describe('a Secret that somebody else made under a name of ours', () => {
  it('of a user: is not written over again and again; a person is told its name and the way out', () => {
    const foreignSecrets = ['orders-user-metrics'];
    const made = plan({ ...withKeys(drawSettled(metrics), 'user.metrics'), userConnections: {}, foreignSecrets });
    expect(made.actions.filter(({ kind }) => kind === 'PublishConnection')).toEqual([]);
    for (const type of ['ActionRequired', 'CredentialsInSync']) {
      expect(condition(made, type), type).toMatchObject({
        status: type === 'ActionRequired' ? 'True' : 'False',
        reason: 'SecretNotOurs',
      });
      expect(condition(made, type)?.message).toContain('Secret orders-user-metrics exists');
      expect(condition(made, type)?.message).toContain('Delete or rename it');
    }
  });

  it('of applications: the same, and other users are served meanwhile', () => {
    const settled = withKeys(drawSettled(metrics), 'user.metrics');
    const { connectionSecret } = namesOf(settled);
    const children = settled.children.filter(({ metadata }) => metadata.name !== connectionSecret);
    const userConnections = { 'user.metrics': 'MISSING' } as const;
    const foreignSecrets = [connectionSecret];
    const made = plan(withUsers({ ...settled, children, userConnections, foreignSecrets }, seen('metrics')));
    const published = made.actions.flatMap((action) => (action.kind === 'PublishConnection' ? [action.key.name] : []));
    expect(published).toEqual(['orders-user-metrics']);
    expect(condition(made, 'ActionRequired')?.message).toContain(`Secret ${connectionSecret} exists`);
  });

  it('is not deleted with the user that it is called after, and does not keep that user from being forgotten', () => {
    const settled = withKeys(drawSettled(), 'user.metrics');
    const asked = (extra: Partial<RedisClusterSnapshot>): readonly string[] => {
      const made = plan({ ...withUsers(settled, seen()), ...extra });
      return made.actions.flatMap(({ kind }) => (['DeleteChild', 'WriteCredentials'].includes(kind) ? [kind] : []));
    };
    const ours = secret('orders-user-metrics', { [LABEL.dataSet]: namesOf(settled).hash });
    const theirs = secret('orders-user-metrics', {});
    expect(asked({ foreignSecrets: ['orders-user-metrics'] })).toEqual(['WriteCredentials']);
    expect(asked({ children: [...settled.children, theirs] })).toEqual(['WriteCredentials']);
    expect(asked({ children: [...settled.children, ours] })).toEqual(['DeleteChild', 'WriteCredentials']);
  });
});

describe('passwords that servers refuse', () => {
  const refusing = { reachable: false, reason: 'AUTH', message: 'The password was refused.' } as const;
  const restored = (persistence: boolean, ...answering: number[]): RedisClusterSnapshot => {
    const settled = withKeys(drawSettled({ persistence: { enabled: persistence } }));
    const facts = Object.entries(settled.redis).map(([pod, known], index) => [
      pod,
      answering.includes(index) ? known : refusing,
    ]);
    const sentinels = Object.keys(settled.sentinels).map((pod) => [pod, refusing]);
    const redis = Object.fromEntries(facts) as RedisClusterSnapshot['redis'];
    return { ...settled, redis, sentinels: Object.fromEntries(sentinels), connectionOutdated: true };
  };

  it('all, since an older copy of the Secret was put back: nothing is published, a person is told the ways out', () => {
    const made = plan(restored(true));
    expect(made.actions).toEqual([]);
    expect(condition(made, 'CredentialsInSync')).toMatchObject({ status: 'False', reason: 'PasswordsRefused' });
    expect(condition(made, 'ActionRequired')).toMatchObject({ status: 'True', reason: 'PasswordsRefused' });
    expect(condition(made, 'ActionRequired')?.message).toContain(
      'Put back the newest copy of the Secret; where there is',
    );
    expect(condition(made, 'ActionRequired')?.message).toContain('from their volumes');
    expect(made.status.phase).toBe('ActionRequired');
  });

  it('without persistence nobody is told to delete the pods before the data is saved', () => {
    expect(condition(plan(restored(false)), 'ActionRequired')?.message).toContain('save the data by a client first');
  });

  it('one pod: the others go on, and that one may be made anew', () => {
    const made = plan(withUsers({ ...restored(true, 0, 1) }, seen()));
    expect(made.actions).toMatchObject([{ kind: 'PublishConnection' }]);
    expect(condition(made, 'ActionRequired')?.message).toMatch(/or delete .*-2, .*one after another/);
  });

  it('one that a server does not take yet is not published; of a server that is silent nothing is claimed', () => {
    const settled = withKeys(drawSettled(metrics), 'user.metrics');
    const published = (picture: RedisClusterSnapshot): number =>
      plan({ ...picture, userConnections: { 'user.metrics': 'MISSING' } }).actions.filter(
        ({ kind }) => kind === 'PublishConnection',
      ).length;
    expect(published(settled)).toBe(0);
    expect(published(withUsers(settled, seen()))).toBe(0);
    expect(published(withUsers(settled, seen('metrics')))).toBe(1);
    const [silent = ''] = Object.keys(settled.redis).slice(-1);
    const all = withUsers(settled, seen('metrics'));
    expect(condition(plan(all), 'CredentialsInSync')).toMatchObject({ status: 'True', reason: 'InSync' });
    const { [silent]: _, ...others } = all.redis;
    const made = plan({ ...all, redis: { ...others, [silent]: silentFacts() } });
    expect(condition(made, 'CredentialsInSync')).toMatchObject({ status: 'Unknown', reason: 'ServersNotAsked' });
    expect(condition(made, 'CredentialsInSync')?.message).toContain(silent);
  });

  it('a removed user that a server still lets in is told, and goes from the servers that answer', () => {
    const settled = withUsers(withKeys(drawSettled(), 'user.metrics'), seen('metrics'));
    const [silent = ''] = Object.keys(settled.redis).slice(-1);
    const made = plan({ ...settled, redis: { ...settled.redis, [silent]: silentFacts() } });
    const told = made.actions.flatMap((action) => (action.kind === 'SetUsers' ? [action.remove] : []));
    expect(told).toEqual(Array.from({ length: 5 }, () => ['metrics']));
    expect(condition(made, 'CredentialsInSync')).toMatchObject({ status: 'False', reason: 'UsersDiffer' });
    expect(condition(made, 'CredentialsInSync')?.message).toContain('still lets in metrics');
  });
});

const ALL_RIGHT = { acceptsCurrent: true, acceptsPrevious: false, acceptsOthers: false, rulesAsWanted: true };

/** Facts of a server that lets in these users beside the usual ones. */
const seen =
  (...further: string[]) =>
  <T extends { readonly reachable: boolean }>(facts: T): T =>
    facts.reachable
      ? {
          ...facts,
          users: Object.fromEntries(['default', ...CREDENTIAL_USERS, ...further].map((user) => [user, ALL_RIGHT])),
          peerLoginCurrent: true,
        }
      : facts;

const withUsers = (snapshot: RedisClusterSnapshot, see: ReturnType<typeof seen>): RedisClusterSnapshot => ({
  ...snapshot,
  redis: Object.fromEntries(Object.entries(snapshot.redis).map(([pod, facts]) => [pod, see(facts)])),
  sentinels: Object.fromEntries(Object.entries(snapshot.sentinels).map(([pod, facts]) => [pod, see(facts)])),
});
