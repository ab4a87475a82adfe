import { describe, expect, it } from 'vitest';

import { UnknownPeers } from './unknown-peers.ts';

const peer = (remoteAddress: string, remotePort: number): { remoteAddress: string; remotePort: number } => ({
  remoteAddress,
  remotePort,
});

describe('peers that have not said who they are', () => {
  it('are so many at most: the address with the most of them loses its oldest', () => {
    const peers = new UnknownPeers(3);
    const [first, second] = [peer('10.6.6.6', 1), peer('10.6.6.6', 2)];
    expect([first, second, peer('10.0.0.2', 1)].map((one) => peers.add(one))).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
    expect(peers.add(peer('10.0.0.3', 1))).toBe(first);
    expect(peers.add(peer('10.6.6.6', 3))).toBe(second);
    expect(peers.count).toBe(3);
  });

  it('are not counted once they are known, or gone', () => {
    const peers = new UnknownPeers(2);
    const [known, gone] = [peer('10.0.0.2', 1), peer('10.0.0.2', 2)];
    const forgets = [known, gone].map((one) => {
      peers.add(one);
      return peers.forgetterOf(one);
    });
    for (const forget of [...forgets, ...forgets]) forget();
    expect(peers.count).toBe(0);
    expect(peers.add(peer('10.0.0.2', 3))).toBeUndefined();
    expect(peers.add(peer('10.0.0.2', 4))).toBeUndefined();
  });
});
