import { describe, expect, it } from 'vitest';

import { shouldEnrol } from './handshake.ts';

const enrolled = { agentId: 'agent-1', key: { privateKeyPem: '', publicKey: '' } };
const identity = { enrolled, isFresh: (token: string) => token === 'new' };

describe('shouldEnrol', () => {
  it.each(['AGENT_REVOKED', 'AGENT_QUARANTINED', 'FINGERPRINT_MISMATCH', 'SIGNATURE_INVALID'])(
    'uses a new token after %s, and never the one that made the identity',
    (code) => {
      expect(shouldEnrol(identity, 'new', code)).toBe(true);
      expect(shouldEnrol(identity, 'old', code)).toBe(false);
      expect(shouldEnrol(identity, undefined, code)).toBe(false);
    },
  );

  it('keeps a good identity whatever token the values hold', () => {
    expect(shouldEnrol(identity, 'new', undefined)).toBe(false);
    expect(shouldEnrol(identity, 'new', 'INVALID_INPUT')).toBe(false);
  });

  it('needs a token as long as there is no identity', () => {
    expect(shouldEnrol({ ...identity, enrolled: undefined }, 'old', undefined)).toBe(true);
    expect(shouldEnrol({ ...identity, enrolled: undefined }, undefined, undefined)).toBe(false);
  });
});
