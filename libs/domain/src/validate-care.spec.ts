import { describe, expect, it } from 'vitest';
import type { AclUserSpec, MaintenanceWindow, RedisClusterSpec, TolerationSpec } from './redis-cluster-spec.ts';
import { validateSpec } from './validate-spec.ts';

const base: RedisClusterSpec = { engine: { type: 'Redis', version: '8.0' }, mode: 'Sentinel' };
const paths = (more: Partial<RedisClusterSpec>): string[] =>
  validateSpec({ ...base, ...more }).map(({ path }) => path.slice(1).join('.'));
const window = (more: Partial<MaintenanceWindow>): Partial<RedisClusterSpec> => ({
  maintenanceWindows: [{ start: '03:30', duration: '2h', ...more }],
});
const toleration = (one: TolerationSpec): Partial<RedisClusterSpec> => ({ scheduling: { tolerations: [one] } });
const user = (more: Partial<AclUserSpec>): Partial<RedisClusterSpec> => ({
  auth: { users: [{ name: 'reader', rules: '~* +@read', ...more }] },
});

describe('the fields of care and users', () => {
  it.each<[string, Partial<RedisClusterSpec>]>([
    ['a window of every night', window({})],
    ['a window over midnight in a zone', window({ days: ['Sat', 'Sun'], start: '23:00', timeZone: 'Europe/Berlin' })],
    ['a window in a zone with digits', window({ timeZone: 'Etc/GMT+5' })],
    ['a toleration of everything', toleration({ operator: 'Exists' })],
    ['a toleration for a while', toleration({ key: 'a.b/c', value: 'd', effect: 'NoExecute', tolerationSeconds: 30 })],
    ['nodes of a kind', { scheduling: { nodeSelector: { 'node.example/kind': 'fast', empty: '' } } }],
    ['no replicas needed to write', { failover: { minReplicasToWrite: 0 } }],
    ['all replicas needed to write', { size: 5, failover: { minReplicasToWrite: 4 } }],
    ['points of save', { persistence: { rdb: { save: [{ seconds: 900, changes: 1 }] } } }],
    ['a canary', { updateStrategy: { partition: 1 } }],
    ['a user with a password of its own', user({ secretRef: { name: 'reader.password', key: 'pass_word' } })],
    ['ten minutes of two passwords', { auth: { rotation: { gracePeriod: '10m' } } }],
  ])('take %s', (_, more) => {
    expect(paths(more)).toEqual([]);
  });

  it.each<[string, Partial<RedisClusterSpec>, string]>([
    ['a day that is none', window({ days: ['Monday'] }), 'maintenanceWindows.0.days'],
    ['an hour that is none', window({ start: '24:00' }), 'maintenanceWindows.0.start'],
    ['five minutes', window({ duration: '5m' }), 'maintenanceWindows.0.duration'],
    ['more than a day', window({ duration: '25h' }), 'maintenanceWindows.0.duration'],
    ['a zone of nowhere', window({ timeZone: 'Europe/Atlantis' }), 'maintenanceWindows.0.timeZone'],
    ['an offset for a zone', window({ timeZone: '+02:00' }), 'maintenanceWindows.0.timeZone'],
    ['a toleration of nothing', toleration({ value: 'x' }), 'scheduling.tolerations.0'],
    ['a toleration with a value too many', toleration({ operator: 'Exists', value: 'x' }), 'scheduling.tolerations.0'],
    ['seconds without NoExecute', toleration({ key: 'x', tolerationSeconds: 1 }), 'scheduling.tolerations.0'],
    ['a label that is none', { scheduling: { nodeSelector: { 'a/b/c': 'd' } } }, 'scheduling.nodeSelector.a/b/c'],
    ['a class that is none', { scheduling: { priorityClassName: 'High!' } }, 'scheduling.priorityClassName'],
    ['more replicas to write than there are', { failover: { minReplicasToWrite: 3 } }, 'failover.minReplicasToWrite'],
    ['half a pod', { updateStrategy: { partition: 0.5 } }, 'updateStrategy.partition'],
    ['no changes', { persistence: { rdb: { save: [{ seconds: 1, changes: 0 }] } } }, 'persistence.rdb.save.0'],
    ['save said twice', { persistence: { rdb: {} }, config: { save: '60 1' } }, 'config.save'],
    ['fsync said twice', { persistence: { aof: {} }, config: { appendfsync: 'no' } }, 'config.appendfsync'],
    ['a user of the operator', user({ name: 'sentinel' }), 'auth.users.0.name'],
    ['the user default', user({ name: 'default' }), 'auth.users.0.name'],
    ['a user in capitals', user({ name: 'Reader' }), 'auth.users.0.name'],
    ['a user named as a Secret is', user({ name: 'my-connection' }), 'auth.users.0.name'],
    ['a password in the rules', user({ rules: '>x +get' }), 'auth.users.0.rules'],
    ['a second line in the rules', user({ rules: '+get\nuser x on nopass' }), 'auth.users.0.rules'],
    ['no rules', user({ rules: '' }), 'auth.users.0.rules'],
    ['a Secret that is none', user({ secretRef: { name: 'No Name' } }), 'auth.users.0.secretRef.name'],
    ['a key that is none', { auth: { secretRef: { name: 'a', key: 'b c' } } }, 'auth.secretRef.key'],
    ['one minute of two passwords', { auth: { rotation: { gracePeriod: '1m' } } }, 'auth.rotation.gracePeriod'],
  ])('refuse %s', (_, more, field) => {
    expect(paths(more)).toEqual([field]);
  });

  it('refuse a user that stands twice', () => {
    const users = [
      { name: 'a', rules: '+get' },
      { name: 'a', rules: '+set' },
    ];
    expect(paths({ auth: { users } })).toEqual(['auth.users.1.name']);
  });
});
