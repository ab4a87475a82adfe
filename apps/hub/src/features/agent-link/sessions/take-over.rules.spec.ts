import { describe, expect, it } from 'vitest';

import { type Holder, isCloned, judgeTakeOver } from './take-over.rules.ts';

const ab = { fromInstance: 'a', toInstance: 'b' };
const ba = { fromInstance: 'b', toInstance: 'a' };

describe('take-overs', () => {
  it('of two instances that take turns are a clone from the fourth on', () => {
    expect(isCloned([ab, ba, ab], ab)).toBe(false);
    expect(isCloned([ab, ba, ab, ba], ba)).toBe(true);
  });

  it('by ever new instances are restarts', () => {
    const chain = ['a', 'b', 'c', 'd', 'e', 'f'].map((name, index) => ({ fromInstance: name, toInstance: `${index}` }));
    expect(isCloned(chain, chain[5] ?? ab)).toBe(false);
  });
});

describe('a Hello of another instance', () => {
  const holder: Holder = { state: 'CONNECTED', instanceId: 'a', inventory: 'SYNCED', isHeard: true };
  const comer = { instanceId: 'b', inventory: 'SYNCED' };

  it.each([
    ['takes a session that has ended from nobody', { state: 'DISCONNECTED' }, {}, 'FREE'],
    ['that is the same process takes nothing', {}, { instanceId: 'a' }, 'FREE'],
    ['takes a live session, which is counted', {}, {}, 'SUSPECT'],
    ['takes it without suspicion from one that has lost its API server', { inventory: 'UNKNOWN' }, {}, 'BLIND_LOSES'],
    ['that sees as little is not given it', { inventory: 'UNKNOWN' }, { inventory: 'UNKNOWN' }, 'HELD'],
    [
      'that sees as little takes it when nothing was heard lately',
      { inventory: 'UNKNOWN', isHeard: false },
      { inventory: 'UNKNOWN' },
      'BLIND_LOSES',
    ],
    ['that does not see its API server is not given it', {}, { inventory: 'UNKNOWN' }, 'HELD'],
    ['is given it when nothing was heard lately', { isHeard: false }, { inventory: 'UNKNOWN' }, 'SUSPECT'],
  ] as const)('%s', (_, holds, comes, verdict) => {
    expect(judgeTakeOver({ ...holder, ...holds }, { ...comer, ...comes })).toBe(verdict);
  });

  it('of a thief is counted whatever it says of itself once it is in', () => {
    // In with SYNCED, UNKNOWN ever after: what the agent takes back is not counted, what the thief takes is.
    const turns = [holder, { ...holder, instanceId: 'b', inventory: 'UNKNOWN' }];
    expect(
      turns.map((turn) => judgeTakeOver(turn, turn.instanceId === 'a' ? comer : { ...comer, instanceId: 'a' })),
    ).toEqual(['SUSPECT', 'BLIND_LOSES']);
  });
});
