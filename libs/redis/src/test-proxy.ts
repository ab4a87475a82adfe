/**
 * For tests only: sends every connection to Redis and Sentinel through a proxy that records the commands, so that a test
 * can show what was never sent (MONITOR hides administrative commands). One line `CONNECT host:port`, answered by `OK`
 * or by the code of the proxy's own failure, which is then thrown as if the address had been dialled here: proofs of death
 * that rest on refused and cut connections stay true behind the proxy. Without it nothing here runs.
 */
import { connect, type Socket } from 'node:net';
import { AbstractConnector, type RedisOptions } from 'ioredis';
import { DEFAULT_CONNECT_TIMEOUT_MS } from './link-options.ts';

export interface TestProxyAddress {
  readonly host: string;
  readonly port: number;
}

let proxy: TestProxyAddress | undefined;

/** Holds for all connections made afterwards in this process. */
export const useTestProxy = (address: TestProxyAddress | undefined): void => {
  proxy = address;
};

/** What ioredis needs in addition while a test proxy is used. */
export const testProxyOptions = (): Pick<RedisOptions, 'Connector'> =>
  proxy === undefined ? {} : { Connector: connectorThrough(proxy) };

const connectorThrough = (address: TestProxyAddress) =>
  class TestProxyConnector extends AbstractConnector {
    readonly #target: RedisOptions;

    constructor(target: unknown) {
      super(DEFAULT_CONNECT_TIMEOUT_MS);
      this.#target = target as RedisOptions;
    }

    async connect(): Promise<Socket> {
      this.connecting = true;
      const socket = connect({ ...address, noDelay: true });
      this.stream = socket;
      const { host = '', port = 0, connectTimeout = DEFAULT_CONNECT_TIMEOUT_MS } = this.#target;
      await introduce(socket, `CONNECT ${host}:${port}\n`, connectTimeout);
      return socket;
    }
  };

/** Resolves when the proxy has reached the target; rejects with an error whose `code` says why it has not. */
const introduce = (socket: Socket, prelude: string, timeoutMs: number): Promise<void> =>
  new Promise((resolve, reject) => {
    let answer = '';
    const fail = (code: string): void => {
      socket.destroy();
      reject(Object.assign(new Error(`connect ${code}`), { code }));
    };
    const onError = (error: NodeJS.ErrnoException): void => fail(error.code ?? 'ECONNRESET');
    const onClose = (): void => fail('ECONNRESET');
    const onReadable = (): void => {
      // Byte by byte: what follows the line belongs to Redis.
      for (let byte = socket.read(1) as Buffer | null; byte !== null; byte = socket.read(1) as Buffer | null) {
        const character = byte.toString('latin1');
        if (character !== '\n') {
          answer += character;
          continue;
        }
        socket.off('readable', onReadable).off('error', onError).off('close', onClose).setTimeout(0);
        return answer === 'OK' ? resolve() : fail(answer);
      }
    };
    socket.setTimeout(timeoutMs, () => fail('ETIMEDOUT'));
    socket.on('readable', onReadable).on('error', onError).on('close', onClose);
    socket.write(prelude);
  });
