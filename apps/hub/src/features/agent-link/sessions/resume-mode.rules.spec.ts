import { describe, expect, it } from 'vitest';

import { chooseResumeMode, type SpecHead } from './resume-mode.rules.ts';

const head: SpecHead = {
  revision: 7,
  ackedRevision: 7,
  digest: 'd'.repeat(32),
  inventoryNeeded: false,
  oldestChange: 3,
};
const hello = { appliedRevision: 7, specDigest: 'd'.repeat(32), inventory: 'SYNCED', hubEpoch: 'now' } as const;

describe('a session begins', () => {
  it.each([
    ['with deltas when both agree', head, hello, 'DELTA', 'IN_STEP'],
    [
      'with deltas when the agent is behind and the outbox reaches back',
      head,
      { ...hello, appliedRevision: 2 },
      'DELTA',
      'IN_STEP',
    ],
    [
      'with a snapshot when the outbox was trimmed',
      head,
      { ...hello, appliedRevision: 1 },
      'SNAPSHOT',
      'OUTBOX_TRIMMED',
    ],
    [
      'with a snapshot for an agent that lost its state',
      head,
      { ...hello, appliedRevision: 0 },
      'SNAPSHOT',
      'FIRST_SESSION',
    ],
    ['with an inventory after the epoch changed', head, { ...hello, hubEpoch: 'before' }, 'INVENTORY', 'EPOCH_CHANGED'],
    ['with an inventory when the agent is ahead', head, { ...hello, appliedRevision: 8 }, 'INVENTORY', 'AGENT_AHEAD'],
    [
      'with an inventory when digests differ',
      head,
      { ...hello, specDigest: 'e'.repeat(32) },
      'INVENTORY',
      'DIGEST_DIFFERS',
    ],
    [
      'with an inventory when one was asked for',
      { ...head, inventoryNeeded: true },
      hello,
      'INVENTORY',
      'DIGEST_DIFFERS',
    ],
  ] as const)('%s', (_, spec, said, mode, reason) => {
    expect(chooseResumeMode(spec, said, 'now')).toEqual({ mode, reason });
  });

  it('without judging a digest when the last ack was lost', () => {
    const behind = { ...head, ackedRevision: 6 };
    expect(chooseResumeMode(behind, { ...hello, specDigest: 'e'.repeat(32) }, 'now').mode).toBe('DELTA');
  });

  it('without judging a digest while the API server is away', () => {
    const away = { ...hello, inventory: 'UNKNOWN', specDigest: 'e'.repeat(32) } as const;
    expect(chooseResumeMode(head, away, 'now').mode).toBe('DELTA');
  });
});
