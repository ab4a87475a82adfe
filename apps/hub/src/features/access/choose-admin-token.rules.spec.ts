import { describe, expect, it } from 'vitest';
import { chooseAdminToken, type KnownToken, type RevokedFor } from './choose-admin-token.rules.ts';

const live = (id: string, day = 1): KnownToken => ({
  id,
  createdAt: new Date(Date.UTC(2026, 0, day)),
  isLive: true,
  revokedFor: null,
});
const ended = (revokedFor: RevokedFor | null): KnownToken => ({ ...live('own'), isLive: false, revokedFor });

describe('the token of a configured file', () => {
  const choose = (own: KnownToken | undefined, ...others: KnownToken[]): unknown =>
    chooseAdminToken({ isConfigured: true, own, others });

  it('is added to a database that has none', () => {
    expect(choose(undefined)).toEqual({ kind: 'ADD', revoke: [] });
  });
  it('takes the place of all before it when it is new', () => {
    expect(choose(undefined, live('a'), live('b', 2))).toEqual({ kind: 'ADD', revoke: ['a', 'b'] });
  });
  it('stays, and ends only those before it', () => {
    expect(choose(live('own', 2), live('a', 1), live('b', 3))).toEqual({ kind: 'KEEP', revoke: ['a'] });
  });
  it.each(['REPLACED', 'PERSON'] as const)(
    'does not come back after it was revoked (%s), and takes no other away',
    (why) => {
      expect(choose(ended(why), live('a'))).toEqual({ kind: 'ENDED', why });
    },
  );
  it('is told as expired when it is', () => {
    expect(choose(ended(null))).toEqual({ kind: 'ENDED', why: 'EXPIRED' });
  });

  it('changes once, in whatever order replicas with the old and the new file start', () => {
    const made = new Map<string, KnownToken>();
    const start = (file: string, day: number): void => {
      const others = [...made.values()].filter(({ id, isLive }) => isLive && id !== file);
      const choice = chooseAdminToken({ isConfigured: true, own: made.get(file), others });
      if (choice.kind === 'ADD') made.set(file, live(file, day));
      if (choice.kind === 'ADD' || choice.kind === 'KEEP') {
        for (const id of choice.revoke) made.set(id, { ...live(id), isLive: false, revokedFor: 'REPLACED' });
      }
    };
    ['old', 'old', 'new', 'old', 'new', 'old'].forEach((file, day) => start(file, day + 1));
    expect([...made.values()].filter(({ isLive }) => isLive).map(({ id }) => id)).toEqual(['new']);
  });
});

describe('the token of a data folder', () => {
  const choose = (own: KnownToken | undefined, ...others: KnownToken[]): unknown =>
    chooseAdminToken({ isConfigured: false, own, others });

  it('is added to a database that has none', () => {
    expect(choose(undefined)).toEqual({ kind: 'ADD', revoke: [] });
  });
  it('is not added beside another, and takes none away', () => {
    expect(choose(undefined, live('a'))).toEqual({ kind: 'LEAVE' });
  });
  it('stays beside another', () => {
    expect(choose(live('own', 2), live('a'))).toEqual({ kind: 'KEEP', revoke: [] });
  });
  it('does not come back after a configured one took its place', () => {
    expect(choose(ended('REPLACED'), live('a'))).toEqual({ kind: 'ENDED', why: 'REPLACED' });
  });
});
