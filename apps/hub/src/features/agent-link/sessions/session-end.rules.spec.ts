import { describe, expect, it } from 'vitest';

import { whyEnded } from './session-end.rules.ts';

describe('a session that may not write', () => {
  it.each([
    ['has another process in its place', 'ACTIVE', true, true, 'TAKEN_OVER'],
    ["is nobody's when the hub gave it up", 'ACTIVE', true, false, 'GIVEN_UP'],
    ["is its agent's last when that is revoked", 'REVOKED', false, true, 'REVOKED'],
    ["is its agent's last when that is quarantined", 'QUARANTINED', true, true, 'QUARANTINED'],
    ['goes on when it is only behind', 'ACTIVE', false, true, undefined],
  ] as const)('%s', (_, state, fenced, taken, reason) => {
    expect(whyEnded({ state, fenced, taken })).toBe(reason);
  });
});
