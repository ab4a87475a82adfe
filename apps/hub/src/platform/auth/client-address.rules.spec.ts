import { describe, expect, it } from 'vitest';

import { clientAddressOf, trustProxies } from './client-address.rules.ts';

const trusted = trustProxies(['10.0.0.0/8', 'fd00::/8', '192.0.2.7']);
const addressOf = (remoteAddress: string | undefined, forwardedFor?: string | string[]): string | undefined =>
  clientAddressOf({ remoteAddress, forwardedFor }, trusted);

describe('the address of a client', () => {
  it.each([
    ['is its own without a proxy', '203.0.113.5', undefined, '203.0.113.5'],
    ['is its own, whatever it says in the header', '203.0.113.5', '198.51.100.1', '203.0.113.5'],
    ['is what a trusted proxy says', '10.1.2.3', '198.51.100.1', '198.51.100.1'],
    [
      'is what the proxy saw, not what the client had written before',
      '10.1.2.3',
      '1.1.1.1, 198.51.100.1',
      '198.51.100.1',
    ],
    ['is found behind two proxies', '192.0.2.7', '198.51.100.1, 10.9.9.9', '198.51.100.1'],
    ['is found in headers that were sent twice', '10.1.2.3', ['1.1.1.1', '198.51.100.1'], '198.51.100.1'],
    ['is that of the proxy when the header is no address', '10.1.2.3', 'unknown', '10.1.2.3'],
    ['is that of the proxy when there is no header', '10.1.2.3', undefined, '10.1.2.3'],
    ['may be IPv6', 'fd00::1', '2001:db8::5', '2001:db8::5'],
    ['is known in its mapped form', '::ffff:10.1.2.3', '198.51.100.1', '198.51.100.1'],
  ])('%s', (_what, remote, forwarded, expected) => {
    expect(addressOf(remote, forwarded)).toBe(expected);
  });

  it('is not known once the peer has gone', () => {
    expect(addressOf(undefined, '198.51.100.1')).toBeUndefined();
  });
});
