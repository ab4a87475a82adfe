import type { Client } from 'pg';
import { describe, expect, it } from 'vitest';

import type { DatabaseLineage } from './hub-identity.ts';
import { LineageGuard } from './lineage-guard.ts';

const lineageOf = (
  systemIdentifier: string,
  timelineId: number,
  objectIds = '5/20',
  walBytes = '0',
): DatabaseLineage => ({
  systemIdentifier,
  timelineId,
  objectIds,
  walBytes,
});
const clientOf = (...lineage: Parameters<typeof lineageOf>): Client =>
  ({ query: () => Promise.resolve({ rows: [lineageOf(...lineage)] }) }) as unknown as Client;
const verify = (guard: LineageGuard, client: Client): Promise<Error | undefined> =>
  new Promise((done) => guard.verify(client, done));

describe('the guard of the lineage', () => {
  it('tells when a new connection reaches another database or timeline', async () => {
    const guard = new LineageGuard();
    let changes = 0;
    guard.onChange(() => Promise.resolve((changes += 1) > 0));
    await verify(guard, clientOf('7', 1));
    await verify(guard, clientOf('7', 1));
    expect(changes).toBe(0);
    await verify(guard, clientOf('7', 2));
    expect(changes).toBe(1);
    await verify(guard, clientOf('8', 2));
    await verify(guard, clientOf('8', 2));
    expect(changes).toBe(2);
  });

  it('tells again with the next connection what could not be followed', async () => {
    const guard = new LineageGuard();
    const answers = [false, true];
    const told: string[] = [];
    guard.onChange((lineage) => {
      told.push(lineage.systemIdentifier);
      return Promise.resolve(answers.shift() ?? true);
    });
    await verify(guard, clientOf('7', 1));
    for (let index = 0; index < 3; index += 1) await verify(guard, clientOf('8', 1));
    expect(told).toEqual(['8', '8']);
  });

  it('is in doubt from the moment in which a change is found, before anybody gets that connection, until it was followed', async () => {
    const guard = new LineageGuard();
    const followed: ((done: boolean) => void)[] = [];
    guard.onChange(() => new Promise((done) => void followed.push(done)));
    await verify(guard, clientOf('7', 1));
    expect(guard.isFollowed).toBe(true);
    await verify(guard, clientOf('8', 1));
    expect(guard.isFollowed).toBe(false);
    followed[0]?.(false);
    await verify(guard, clientOf('8', 1));
    expect(guard.isFollowed).toBe(false);
    await verify(guard, clientOf('9', 1));
    followed[1]?.(true);
    await Promise.resolve();
    expect(guard.isFollowed).toBe(false);
    followed[2]?.(true);
    await Promise.resolve();
    expect(guard.isFollowed).toBe(true);
  });

  const countChanges = (guard: LineageGuard): (() => number) => {
    let changes = 0;
    guard.onChange(() => Promise.resolve((changes += 1) > 0));
    return () => changes;
  };

  it.each([
    ['a dump restored into another database of the same server', clientOf('7', 1, '6/20', '900')],
    ['a dump restored into the same database', clientOf('7', 1, '5/99', '900')],
    ['the files of an hour ago', clientOf('7', 1, '5/20', '700')],
  ])('tells of %s', async (_, client) => {
    const guard = new LineageGuard();
    const changes = countChanges(guard);
    await verify(guard, clientOf('7', 1, '5/', '100'));
    await verify(guard, clientOf('7', 1, '5/20', '800'));
    expect(changes()).toBe(0);
    await verify(guard, client);
    expect(changes()).toBe(1);
  });

  it('learns from open connections how far the log is, and of other databases only from new ones', async () => {
    const guard = new LineageGuard();
    const changes = countChanges(guard);
    await verify(guard, clientOf('7', 1, '5/20', '100'));
    expect(guard.note(lineageOf('7', 1, '5/20', '900'), guard.known)).toBe(true);
    expect(guard.note(lineageOf('6', 1, '5/20', '950'), guard.known)).toBe(false);
    expect(changes()).toBe(0);
    await verify(guard, clientOf('7', 1, '5/20', '500'));
    expect(changes()).toBe(1);
  });

  it('takes answers that overtake each other for what they are', async () => {
    const guard = new LineageGuard();
    const changes = countChanges(guard);
    await verify(guard, clientOf('7', 1, '5/20', '100'));
    const late = Promise.withResolvers<unknown>();
    const slow = verify(guard, { query: () => late.promise } as unknown as Client);
    await verify(guard, clientOf('7', 1, '5/20', '300'));
    late.resolve({ rows: [lineageOf('7', 1, '5/20', '200')] });
    await slow;
    expect(changes()).toBe(0);
  });

  it('refuses a connection that cannot tell', async () => {
    const client = { query: () => Promise.reject(new Error('down')) } as unknown as Client;
    expect((await verify(new LineageGuard(), client))?.message).toBe('down');
  });
});
