/**
 * Ports for servers that can not be told to take any: redis-server, Sentinel, a hub that comes back on the port it had.
 * A port that the system chooses and that is let go again may be taken before the server binds it: by another test, or as
 * the near end of anybody's connection, for which the system draws from the same range. So these lie outside of that range
 * (/proc/sys/net/ipv4/ip_local_port_range begins at 32,768 wherever nobody changed it), and each is claimed by an abstract
 * socket of its name, which only one process of the machine can hold and which goes with it however it ends.
 */
import { randomInt } from 'node:crypto';
import { createServer } from 'node:net';
import type { ListenOptions, Server } from 'node:net';

const RANGE = { first: 20_000, size: 10_000 };

/** `count` ports that are free on 127.0.0.1 and on every address; this process keeps them until it ends. */
export const claimPorts = async (count: number, { first, size } = RANGE): Promise<number[]> => {
  const claimed: number[] = [];
  const begin = randomInt(size);
  for (let step = 0; claimed.length < count; step += 1) {
    if (step === size) throw new Error(`Fewer than ${count} ports are free from ${first} to ${first + size - 1}.`);
    const port = first + ((begin + step) % size);
    if (await claim(port)) claimed.push(port);
  }
  return claimed;
};

/** One of them. */
export const claimPort = async (): Promise<number> => (await claimPorts(1))[0] ?? 0;

const claim = async (port: number): Promise<boolean> => {
  const holder = await tryListen({ path: `\0atoll-port-${port}` });
  if (holder === undefined) return false;
  const free = await isFree(port);
  if (free) holder.unref();
  else holder.close();
  return free;
};

/** Bound by somebody who makes no claims? Asked on every address: who listens on one of them only is in the way as well. */
const isFree = async (port: number): Promise<boolean> => {
  for (const host of ['127.0.0.1', '0.0.0.0']) {
    const server = await tryListen({ host, port });
    if (server === undefined) return false;
    await new Promise((resolve) => server.close(resolve));
  }
  return true;
};

const tryListen = (where: ListenOptions): Promise<Server | undefined> =>
  new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'EADDRINUSE') resolve(undefined);
      else reject(error);
    });
    server.listen(where, () => resolve(server));
  });
