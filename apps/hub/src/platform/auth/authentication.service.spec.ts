import { beforeEach, describe, expect, it } from 'vitest';

import { AuthenticationService, TooManyUnknownTokens } from './authentication.service.ts';
import { hashToken } from './bearer-token.ts';
import { BURST } from './unknown-tokens.rules.ts';
import type { Viewer } from './viewer.ts';

const VIEWER: Viewer = { principalId: 'p', name: 'viewer', kind: 'USER', bindings: [] };
const VALID = 'a-valid-token-of-a-user';
const bearer = (token: string): string => `Bearer ${token}`;
const unknownToken = (at: number): string => bearer(`some-unknown-token-${at}`);

let nowMs: number;
let valid: boolean;
let asked: number;
let service: AuthenticationService;
beforeEach(() => {
  [nowMs, valid, asked] = [0, true, 0];
  const repository = {
    findViewer: async (hash: Buffer) => {
      asked += 1;
      return valid && hash.equals(hashToken(VALID)) ? VIEWER : undefined;
    },
  };
  service = new AuthenticationService(repository as never, { monotonicMs: () => nowMs, nowMs: () => nowMs });
});

const tryMany = async (count: number, source: string, from = 0): Promise<number> => {
  let refused = 0;
  for (let at = from; at < from + count; at += 1) {
    await service.authenticate(unknownToken(at), source).catch((error: unknown) => {
      expect(error).toBeInstanceOf(TooManyUnknownTokens);
      refused += 1;
    });
  }
  return refused;
};

describe('tokens that the hub does not know', () => {
  it('are looked up within the budget of their address only', async () => {
    expect(await tryMany(1_000, '203.0.113.5')).toBe(1_000 - BURST);
    expect(asked).toBe(BURST);
    expect(await tryMany(1, '203.0.113.6', 5_000)).toBe(0);
  });

  it('are remembered, so that one that is tried again asks nothing', async () => {
    for (let times = 0; times < 100; times += 1)
      expect(await service.authenticate(unknownToken(1), 'a')).toBeUndefined();
    expect(asked).toBe(1);
  });

  it('are not looked up when they cannot be tokens', async () => {
    for (const text of ['Basic abc', 'Bearer short', `Bearer ${'x'.repeat(513)}`, 'Bearer with space in it here', 7])
      expect(await service.authenticate(text, 'a')).toBeUndefined();
    expect(asked).toBe(0);
  });

  it('do not push out a valid token, and do not lock out those who share the address', async () => {
    expect(await service.authenticate(bearer(VALID), 'nat')).toBe(VIEWER);
    for (let at = 0; at < 20_000; at += 1) await service.authenticate(unknownToken(at), `address ${at}`);
    asked = 0;
    expect(await service.authenticate(bearer(VALID), 'nat')).toBe(VIEWER);
    expect(asked).toBe(0);
    await tryMany(100, 'nat', 50_000);
    nowMs += 1_001;
    expect(await service.authenticate(bearer(VALID), 'nat')).toBe(VIEWER);
  });
});

describe('a valid token', () => {
  it('is looked up however many come at once from one address, as behind a proxy after a restart', async () => {
    const tokens = Array.from({ length: 200 }, (_, at) => `valid-token-of-user-${at}`);
    const hashes = new Set(tokens.map((token) => hashToken(token).toString('hex')));
    const findViewer = async (hash: Buffer): Promise<Viewer | undefined> =>
      hashes.has(hash.toString('hex')) ? VIEWER : undefined;
    const clock = { monotonicMs: () => 0, nowMs: () => 0 };
    const fresh = new AuthenticationService({ findViewer } as never, clock);
    const viewers = await Promise.all(tokens.map((token) => fresh.authenticate(bearer(token), 'proxy')));
    expect(viewers.every((viewer) => viewer === VIEWER)).toBe(true);
  });

  it('uses up nothing of its address, and is looked up once for many at once', async () => {
    for (let times = 0; times < 100; times += 1) {
      nowMs += 11 * 60_000;
      expect(await service.authenticate(bearer(VALID), 'a')).toBe(VIEWER);
    }
    asked = 0;
    nowMs += 1_001;
    await Promise.all(Array.from({ length: 50 }, () => service.authenticate(bearer(VALID), 'a')));
    expect(asked).toBe(1);
  });

  it('is refused a second after it was revoked, and is unknown from then on', async () => {
    await service.authenticate(bearer(VALID), 'a');
    valid = false;
    expect(await service.authenticate(bearer(VALID), 'a')).toBe(VIEWER);
    nowMs += 1_001;
    expect(await service.authenticate(bearer(VALID), 'a')).toBeUndefined();
    await tryMany(BURST, 'a');
    await expect(service.authenticate(bearer(VALID), 'a')).resolves.toBeUndefined();
    nowMs += 5_001;
    await tryMany(BURST, 'a', 900);
    await expect(service.authenticate(bearer(VALID), 'a')).rejects.toBeInstanceOf(TooManyUnknownTokens);
  });
});
