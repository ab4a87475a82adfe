import type { Client } from 'pg';
import { describe, expect, it } from 'vitest';

import { LineageGuard } from './lineage-guard.ts';

const clientOf = (systemIdentifier: string, timelineId: number): Client =>
  ({ query: () => Promise.resolve({ rows: [{ systemIdentifier, timelineId }] }) }) as unknown as Client;
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

  it('refuses a connection that cannot tell', async () => {
    const client = { query: () => Promise.reject(new Error('down')) } as unknown as Client;
    expect((await verify(new LineageGuard(), client))?.message).toBe('down');
  });
});
