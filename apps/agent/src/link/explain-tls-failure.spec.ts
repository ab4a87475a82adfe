import { describe, expect, it } from 'vitest';
import { explainTlsFailure } from './explain-tls-failure.ts';

describe('a hub whose certificate is not trusted', () => {
  it('is told with what to do', () => {
    expect(explainTlsFailure('SELF_SIGNED_CERT_IN_CHAIN', 'hub:8444')).toMatch(
      /^HUB_CA_UNKNOWN: the certificate at hub:8444 .* hub\.ca/,
    );
    expect(explainTlsFailure('CERT_HAS_EXPIRED', 'hub:8444')).toMatch(/^HUB_CERTIFICATE_EXPIRED: /);
  });

  it('is nothing else', () => {
    expect(explainTlsFailure('ECONNREFUSED', 'hub:8444')).toBeUndefined();
    expect(explainTlsFailure(undefined, 'hub:8444')).toBeUndefined();
  });
});
