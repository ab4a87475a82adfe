import { X509Certificate } from 'node:crypto';
import { getCACertificates } from 'node:tls';
import { describe, expect, it } from 'vitest';
import { HubTrust } from './hub-trust.ts';
import type { Fields } from './identity-secret.ts';
import { DROP_OLD_CA_AFTER_MS } from './settle-hub-ca.ts';

/** Any two that are real. */
const [PUBLIC = '', NEXT = ''] = getCACertificates('bundled');

class Stored {
  fields: Fields = {};
  store(changes: Fields): Promise<void> {
    this.fields = { ...this.fields, ...changes };
    return Promise.resolve();
  }
}

describe('an agent whose hub has a certificate of a public CA, and that was given none', () => {
  it('verifies by the system alone', () => {
    expect(new HubTrust(new Stored(), undefined).verifiers).toEqual([]);
  });

  it('does so beside a CA that was announced, or it would be locked out before the switch', async () => {
    const trust = new HubTrust(new Stored(), undefined);
    expect(await trust.settle([], NEXT, 0)).toBe(true);
    expect(trust.verifiers).toContain(NEXT);
    expect(trust.verifiers).toEqual(expect.arrayContaining(getCACertificates('default')));
    expect(trust.capabilities).toHaveLength(1);
  });

  it('does so no more when the hub has used the announced one for a week', async () => {
    const trust = new HubTrust(new Stored(), undefined);
    await trust.settle([], NEXT, 0);
    const chain = [new X509Certificate(NEXT)];
    await trust.settle(chain, undefined, 0);
    expect(trust.verifiers.length).toBeGreaterThan(1);
    await trust.settle(chain, undefined, DROP_OLD_CA_AFTER_MS);
    expect(trust.verifiers).toEqual([NEXT]);
  });
});

describe('an agent that was given a CA', () => {
  it('never trusts the system, whatever is announced', async () => {
    const trust = new HubTrust(new Stored(), PUBLIC);
    await trust.settle([], NEXT, 0);
    expect(trust.verifiers).toEqual([NEXT, PUBLIC]);
  });
});
