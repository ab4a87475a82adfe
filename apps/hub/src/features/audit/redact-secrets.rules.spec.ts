import { describe, expect, it } from 'vitest';
import { redactSecrets } from './redact-secrets.rules.ts';

describe('audit rows', () => {
  it.each(['requirepass', 'masterauth', 'tls-key-file-pass', 'aclfile', 'user default', 'token', 'privateKey'])(
    'keep the value of %s out',
    (name) => {
      expect(
        JSON.stringify(redactSecrets({ spec: { config: { [name]: 'canary' } }, list: [{ [name]: 'canary' }] })),
      ).not.toContain('canary');
    },
  );
  it('keep everything else as it is', () => {
    const value = { generation: 3, spec: { size: 3, config: { 'maxmemory-policy': 'allkeys-lru' } }, none: null };
    expect(redactSecrets(value)).toEqual(value);
  });
});
