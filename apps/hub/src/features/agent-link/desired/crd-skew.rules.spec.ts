import { describe, expect, it } from 'vitest';
import { explainTooNew } from './crd-skew.rules.ts';

const recorded = { old: { release: '0.1.0', spec: { mode: 1, size: 1 } } } as const;
const object = (spec: object, kind = 'RedisCluster') => ({ kind, spec: JSON.stringify(spec) });

describe('rule 14: a spec that the definition there cannot hold', () => {
  it('is withheld, and says which fields, whose definition and what to do', () => {
    const reason = explainTooNew(object({ mode: 'Sentinel', auth: {}, suspend: true }), 'old', recorded);
    expect(reason).toMatch(/release 0\.1\.0 .*spec\.auth, spec\.suspend\. .*Upgrade the agent/);
  });

  it('is sent when every field is known', () => {
    expect(explainTooNew(object({ mode: 'Sentinel', size: 3 }), 'old', recorded)).toBeUndefined();
  });

  it.each(['newer', '', 'constructor'])('is sent to a definition that nobody recorded: "%s"', (hash) => {
    expect(explainTooNew(object({ auth: {} }), hash, recorded)).toBeUndefined();
  });

  it('is judged for RedisClusters alone', () => {
    expect(explainTooNew(object({ auth: {} }, 'RedisOperation'), 'old', recorded)).toBeUndefined();
  });

  it('names ten fields at most', () => {
    const spec = Object.fromEntries(Array.from({ length: 12 }, (_, index) => [`f${index}`, 1]));
    expect(explainTooNew(object(spec), 'old', recorded)).toContain('spec.f9 and 2 more.');
  });
});
