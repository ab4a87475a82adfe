/**
 * Whether nothing listens at an address any more (04, proof of death a): two fresh connections, some time apart, both
 * refused. A refusal is the kernel of that address saying that no process has the port; a time-out, an unreachable
 * host, a reset after the connection stood are no refusal, and prove nothing. One that is accepted ends it at once.
 */
import { connect } from 'node:net';

export interface ExitQuestion {
  /** IP address. */
  readonly host: string;
  readonly port: number;
  /** Between the first answer and the second try. */
  readonly gapMs: number;
  /** Of one try. */
  readonly timeoutMs: number;
}

export const WITNESS_GAP_MS = 100;
export const WITNESS_TIMEOUT_MS = 250;

/** One fresh connection: true only when it was refused. Never rejects. */
export const isRefused = ({ host, port, timeoutMs }: Omit<ExitQuestion, 'gapMs'>): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect({ host, port });
    const end = (refused: boolean): void => {
      clearTimeout(timer);
      socket.destroy();
      resolve(refused);
    };
    const timer = setTimeout(() => end(false), timeoutMs);
    socket.once('connect', () => end(false));
    socket.on('error', (error: NodeJS.ErrnoException) => end(error.code === 'ECONNREFUSED'));
  });

export const isRefusedTwice = async (question: ExitQuestion): Promise<boolean> => {
  if (!(await isRefused(question))) return false;
  await new Promise((resolve) => setTimeout(resolve, question.gapMs));
  return isRefused(question);
};
