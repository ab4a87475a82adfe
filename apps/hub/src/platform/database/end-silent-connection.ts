/**
 * Ends a connection to PostgreSQL on which nothing came or went for too long. A host that vanishes (power, network, a
 * failover without a farewell) sends no end: what was asked there would wait for ever, and with it all status, while new
 * connections already reach its successor. Statements of the hub are short and idle connections leave the pool sooner,
 * so silence means that nobody is there, or that the answer has become useless.
 */
import type { Socket } from 'node:net';
import type { Client } from 'pg';

/** Below what makes an agent LATE. */
export const ANSWER_TIMEOUT_MS = 30_000;

/** Call again to set another time; 0: it may be silent for ever. */
export function endSilentConnection(client: Client, timeoutMs = ANSWER_TIMEOUT_MS): void {
  const { stream } = (client as unknown as { connection: { stream: Socket } }).connection;
  stream.removeAllListeners('timeout');
  stream.setTimeout(timeoutMs);
  stream.on('timeout', () => {
    stream.destroy(new Error(`Connection terminated: the database has not answered for ${timeoutMs / 1_000} s`));
  });
}
