import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import pg from 'pg';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

import { DatabaseSockets } from './database-sockets.ts';

/** Takes connections and never says anything. */
let silent: Server;
const taken = new Set<Socket>();
beforeEach(async () => {
  silent = createServer((socket) => taken.add(socket.on('error', () => undefined)));
  await new Promise<void>((done) => silent.listen(0, '127.0.0.1', done));
});
afterEach(async () => {
  for (const socket of taken) socket.destroy();
  await new Promise((done) => silent.close(done));
});

describe('a database that is given up', () => {
  it('fails what waits for it, and whoever comes later, without waiting', async () => {
    const { port } = silent.address() as AddressInfo;
    const sockets = new DatabaseSockets();
    const pool = new pg.Pool({ host: '127.0.0.1', port, max: 2, stream: sockets.make });
    const asked = [1, 2, 3, 4].map(() => pool.query('SELECT 1').then(String, (error: Error) => error.message));
    await expect.poll(() => taken.size).toBe(2);
    sockets.giveUp();
    for (const answer of await Promise.all(asked)) expect(answer).toContain('given up');
    await expect(pool.query('SELECT 1')).rejects.toThrow('given up');
    expect(taken.size).toBe(2);
    await pool.end();
  });
});
