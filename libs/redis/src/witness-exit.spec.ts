import { createServer } from 'node:net';
import type { AddressInfo, Server } from 'node:net';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { witnessExit } from './witness-exit.ts';

let server: Server | undefined;
afterEach(() => server?.close());

const listen = async (): Promise<number> => {
  const made = createServer((socket) => socket.on('error', () => undefined));
  server = made;
  await new Promise<void>((resolve) => made.listen(0, '127.0.0.1', resolve));
  return (made.address() as AddressInfo).port;
};
const ask = (port: number) => ({ host: '127.0.0.1', port, gapMs: 20, timeoutMs: 100, patienceMs: 400 });

describe('the end of a process', () => {
  it('is proven by two refusals', async () => {
    const port = await listen();
    server?.close();
    const otherwise = vi.fn();
    expect(await witnessExit(ask(port), otherwise)).toBe(true);
    expect(otherwise).not.toHaveBeenCalled();
  });

  it('is not proven while something accepts, as a frozen process does, and that is told at once', async () => {
    const port = await listen();
    const otherwise = vi.fn();
    expect(await witnessExit(ask(port), otherwise)).toBe(false);
    expect(otherwise).toHaveBeenCalledTimes(1);
  });

  it('is proven of one that still accepted while it was torn down', async () => {
    const port = await listen();
    setTimeout(() => server?.close(), 50);
    expect(await witnessExit({ ...ask(port), patienceMs: 2_000 }, () => undefined)).toBe(true);
  });
});
