import { describe, expect, it } from 'vitest';
import { DROP_OLD_CA_AFTER_MS, settleHubCa } from './settle-hub-ca.ts';
import type { HubCas, HubCaSighting } from './settle-hub-ca.ts';

const HELD_A: HubCas = { current: 'A', next: undefined, nextUsedAtMs: undefined, retired: undefined };
const HELD_A_B: HubCas = { ...HELD_A, next: 'B' };
const NOW = 1_000_000;
/** Certificates are letters here; a text of several is a bundle. */
const settle = (held: HubCas, sighting: Partial<HubCaSighting>): HubCas =>
  settleHubCa(held, { nowMs: NOW, ...sighting }, (pem) => (pem ?? '').split(''));

describe('the CAs of the hub that an agent keeps', () => {
  it('grow by the one that is announced, and not by one it has', () => {
    expect(settle(HELD_A, { verifiedWith: 'A', announced: 'B' })).toEqual(HELD_A_B);
    expect(settle(HELD_A_B, { verifiedWith: 'A', announced: 'B' })).toEqual(HELD_A_B);
    expect(settle(HELD_A, { verifiedWith: 'A', announced: 'A' })).toEqual(HELD_A);
    expect(settle(HELD_A, { verifiedWith: 'A', announced: '' })).toEqual(HELD_A);
  });

  it('keep what was announced when a replica announces nothing', () => {
    expect(settle(HELD_A_B, { verifiedWith: 'A' })).toEqual(HELD_A_B);
  });

  it('keep the old one for a week after the switch, since replicas differ and a switch may be taken back', () => {
    const used = settle(HELD_A_B, { verifiedWith: 'B' });
    expect(used).toEqual({ ...HELD_A_B, nextUsedAtMs: NOW });
    expect(settle(used, { verifiedWith: 'B', nowMs: NOW + DROP_OLD_CA_AFTER_MS - 1 })).toEqual(used);
    expect(settle(used, { verifiedWith: 'A', nowMs: NOW + 1 })).toEqual(HELD_A_B);
  });

  it('lose the old one a week after the switch, unless the hub still announces it', () => {
    const used = { ...HELD_A_B, nextUsedAtMs: NOW };
    const nowMs = NOW + DROP_OLD_CA_AFTER_MS;
    expect(settle(used, { verifiedWith: 'B', nowMs })).toEqual({ ...HELD_A, current: 'B', retired: 'A' });
    expect(settle(used, { verifiedWith: 'B', nowMs, announced: 'A' })).toEqual(used);
  });

  it('never lose the one in use to another announcement', () => {
    const used = { ...HELD_A_B, nextUsedAtMs: NOW };
    const shifted = { current: 'B', next: 'C', nextUsedAtMs: undefined, retired: 'A' };
    expect(settle(used, { verifiedWith: 'B', announced: 'C' })).toEqual(shifted);
    expect(settle(HELD_A_B, { verifiedWith: 'A', announced: 'C' })).toEqual({ ...HELD_A, next: 'C' });
  });

  it('become the one that a person gave, when the hub is met with that', () => {
    const retired = { ...HELD_A, retired: 'C' };
    expect(settle(retired, { verifiedWith: 'C', given: 'C' })).toEqual({ ...HELD_A, current: 'C' });
    expect(settle(HELD_A, { verifiedWith: 'A', given: 'C' })).toEqual(HELD_A);
    expect(settle(HELD_A, { verifiedWith: 'X' })).toEqual(HELD_A);
  });

  it('stay when it is not known what the hub was verified with', () => {
    expect(settle({ ...HELD_A_B, nextUsedAtMs: 0 }, {})).toEqual({ ...HELD_A_B, nextUsedAtMs: 0 });
  });
});
