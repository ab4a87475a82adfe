import { describe, expect, it } from 'vitest';
import { LABEL } from '#domain';
import type { KubeObject, Plan, RedisClusterSnapshot } from '#domain';
import { CREDENTIAL_USERS } from '#manifests';
import { NOW_MS, drawSettled } from '#testing';
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
    const made = plan({ ...settled, children, userConnections, foreignSecrets: [connectionSecret] });
    const published = made.actions.flatMap((action) => (action.kind === 'PublishConnection' ? [action.key.name] : []));
    expect(published).toEqual(['orders-user-metrics']);
    expect(condition(made, 'ActionRequired')?.message).toContain(`Secret ${connectionSecret} exists`);
  });

  it('is not deleted with the user that it is called after, and does not keep that user from being forgotten', () => {
    const settled = withKeys(drawSettled(), 'user.metrics');
    const asked = (extra: Partial<RedisClusterSnapshot>): readonly string[] => {
      const answering = Object.fromEntries(Object.entries(settled.redis).map(([pod, facts]) => [pod, seen(facts)]));
      const sentinels = Object.fromEntries(Object.entries(settled.sentinels).map(([pod, facts]) => [pod, seen(facts)]));
      const made = plan({ ...settled, redis: answering, sentinels, ...extra });
      return made.actions.flatMap(({ kind }) => (['DeleteChild', 'WriteCredentials'].includes(kind) ? [kind] : []));
    };
    const ours = secret('orders-user-metrics', { [LABEL.dataSet]: namesOf(settled).hash });
    const theirs = secret('orders-user-metrics', {});
    expect(asked({ foreignSecrets: ['orders-user-metrics'] })).toEqual(['WriteCredentials']);
    expect(asked({ children: [...settled.children, theirs] })).toEqual(['WriteCredentials']);
    expect(asked({ children: [...settled.children, ours] })).toEqual(['DeleteChild', 'WriteCredentials']);
  });
});

const seen = <T extends { readonly reachable: boolean }>(facts: T): T => ({
  ...facts,
  users: Object.fromEntries(
    ['default', ...CREDENTIAL_USERS].map((user) => [
      user,
      { acceptsCurrent: true, acceptsPrevious: false, acceptsOthers: false, rulesAsWanted: true },
    ]),
  ),
  peerLoginCurrent: true,
});
