import { describe, expect, it } from 'vitest';
import type { RedisClusterSpecInput } from './redis-cluster-spec.input.ts';
import { readSpecInput } from './spec-input.rules.ts';

const input = (more: Partial<RedisClusterSpecInput>): RedisClusterSpecInput => ({
  engine: { type: 'Redis', version: '8.0', image: null },
  mode: 'Sentinel',
  ...more,
});
const fields = (more: Partial<RedisClusterSpecInput>) => {
  const outcome = readSpecInput(input(more));
  return outcome.ok ? [] : outcome.errors.map((error) => error.field?.join('.'));
};

describe('the spec made of an input', () => {
  it('leaves absent and null fields out, at any depth', () => {
    const outcome = readSpecInput(
      input({ size: 3, storage: null, resources: { requests: { memory: '256Mi' }, limits: null } }),
    );
    expect(outcome).toEqual({
      ok: true,
      value: {
        engine: { type: 'Redis', version: '8.0' },
        mode: 'Sentinel',
        size: 3,
        resources: { requests: { memory: '256Mi' } },
      },
    });
  });
  it('leaves them out inside of lists too', () => {
    const outcome = readSpecInput(
      input({
        scheduling: { nodeSelector: { fast: true }, tolerations: [{ key: 'a', operator: 'Exists', value: null }] },
        auth: { users: [{ name: 'reader', rules: '~* +@read', secretRef: null }] },
        maintenanceWindows: [{ start: '03:00', duration: '2h', days: ['Sun'], timeZone: null }],
      }),
    );
    expect(outcome.ok ? outcome.value : outcome.errors).toMatchObject({
      scheduling: { nodeSelector: { fast: 'true' }, tolerations: [{ key: 'a', operator: 'Exists' }] },
      auth: { users: [{ name: 'reader', rules: '~* +@read' }] },
      maintenanceWindows: [{ start: '03:00', duration: '2h', days: ['Sun'] }],
    });
    expect(JSON.stringify(outcome)).not.toContain('null');
  });
  it('points into a list, at the entry that is wrong', () => {
    const users = [
      { name: 'reader', rules: '+get' },
      { name: 'default', rules: '+get >canary' },
    ];
    expect(fields({ auth: { users } })).toEqual(['input.spec.auth.users.1.name', 'input.spec.auth.users.1.rules']);
    expect(JSON.stringify(readSpecInput(input({ auth: { users } })))).not.toContain('canary');
  });
  it('takes numbers and booleans of config as text, as redis.conf would', () => {
    const outcome = readSpecInput(input({ config: { timeout: 30, 'maxmemory-policy': 'allkeys-lru' } }));
    expect(outcome.ok && outcome.value.config).toEqual({ timeout: '30', 'maxmemory-policy': 'allkeys-lru' });
  });
  it.each([['text'], [['a']], [{ timeout: { seconds: 3 } }]])('refuses a config of %j', (config) => {
    expect(fields({ config })).toEqual(['input.spec.config']);
  });
  it('points at the field that the domain refuses', () => {
    expect(fields({ size: 0 })).toEqual(['input.spec.size']);
  });
  it('may keep what it said before the rule came, and may not come to say it', () => {
    const storage = { type: 'Ephemeral', storageClassName: 'fast' } as const;
    const before = { engine: { type: 'Redis', version: '8.0' }, mode: 'Sentinel', storage } as const;
    expect(fields({ storage })).toEqual(['input.spec.storage.storageClassName']);
    expect(readSpecInput(input({ storage }), before)).toEqual({ ok: true, value: before });
  });
  it('may not keep what cannot run', () => {
    const engine = { type: 'Redis', version: '8.0', image: 'redis:8.0 ; rm' } as const;
    const outcome = readSpecInput(input({ engine }), { engine, mode: 'Sentinel' });
    expect(outcome.ok ? [] : outcome.errors).toMatchObject([
      { code: 'INVALID_INPUT', field: ['input', 'spec', 'engine', 'image'] },
    ]);
  });
  it('refuses a password in config without repeating it', () => {
    const outcome = readSpecInput(input({ config: { requirepass: 'canary' } }));
    expect(outcome.ok).toBe(false);
    expect(JSON.stringify(outcome)).not.toContain('canary');
  });
});
