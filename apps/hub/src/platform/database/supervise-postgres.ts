/**
 * Keeps the embedded server of this hub running: a server that was killed (by the kernel for its memory, by hand) is
 * started again at the same socket, and the pool finds it there. Nobody else would do it, since it is nobody's service.
 */
import type { Logger } from 'pino';

import { type EmbeddedPostgres, startEmbeddedPostgres } from './embedded-postgres.ts';
import { isAlive } from './postmaster-file.ts';

const LOOK_MS = 500;

/** `stop` of what it returns stops the server as well. Throws when the first start fails. */
export async function supervisePostgres(dataDir: string, log: Logger): Promise<EmbeddedPostgres> {
  const warn = (text: string): void => log.warn(text);
  let server = await startEmbeddedPostgres(dataDir, warn);
  let restarting: Promise<void> | undefined;
  const restart = async (): Promise<void> => {
    log.error({ postgresPid: server.pid }, 'the embedded PostgreSQL is gone; it is started again');
    try {
      server = await startEmbeddedPostgres(dataDir, warn);
    } catch (error) {
      log.error({ err: error }, 'the embedded PostgreSQL does not start; it is tried again');
    } finally {
      restarting = undefined;
    }
  };
  const timer = setInterval(() => {
    if (restarting === undefined && !isAlive(server.pid)) restarting = restart();
  }, LOOK_MS);
  const stop = async (): Promise<void> => {
    clearInterval(timer);
    await restarting;
    await server.stop();
  };
  return { ...server, stop };
}
