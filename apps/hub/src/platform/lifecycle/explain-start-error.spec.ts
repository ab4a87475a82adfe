import { createServer, type AddressInfo } from 'node:net';
import { mkdir } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { explainStartError } from './explain-start-error.ts';

describe('why a hub did not start', () => {
  it('a port in use: which, and what to set', async () => {
    const [first, second] = [createServer(), createServer()];
    await new Promise<void>((done) => first.listen(0, '127.0.0.1', done));
    const { port } = first.address() as AddressInfo;
    const error = await new Promise((done) => second.once('error', done).listen(port, '127.0.0.1'));
    first.close();
    expect(explainStartError(error)).toMatch(new RegExp(`port ${port} is in use.*ATOLL_API_PORT`));
  });
  it('a data folder that is a file', async () => {
    const file = fileURLToPath(import.meta.url);
    const error = await mkdir(file, { recursive: true }).catch((thrown: unknown) => thrown);
    expect(explainStartError(error)).toBe(`${file} cannot be written: set ATOLL_DATA_DIR to a folder that can`);
  });
  it.each([
    [{ code: 'EACCES', syscall: 'mkdir', path: '/x' }, /^\/x may not be used.*ATOLL_DATA_DIR/],
    [{ code: 'EACCES', syscall: 'listen', port: 443 }, /port 443.*above 1023/],
    [{ code: 'ENOENT', path: '/token' }, /^\/token does not exist/],
    [{ code: 'ECONNREFUSED' }, /DATABASE_URL/],
    [{ code: '53300' }, /max_connections/],
    [{ code: '57P03' }, /still starting up/],
    [{ code: '28P01' }, /password: correct DATABASE_URL/],
  ])('%j', (error, text) => {
    expect(explainStartError(error)).toMatch(text);
  });
  it('anything else speaks for itself', () => {
    expect(explainStartError(new Error('another hub uses it'))).toBeUndefined();
  });
});
