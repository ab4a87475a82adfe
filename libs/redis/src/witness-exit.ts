/**
 * Whether nothing listens at an address any more (04, proof of death a): two fresh connections, some time apart, both
 * refused. A refusal is the kernel of that address saying that no process has the port; a time-out, an unreachable
 * host, a reset after the connection stood are no refusal, and prove nothing. A process that is being torn down still
 * accepts for some milliseconds after its other connections were closed (seen in one death of three), so the question is
 * repeated for a while.
 */
import { connect } from 'node:net';

interface ExitQuestion {
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
export const WITNESS_PATIENCE_MS = 1_500;
const AGAIN_MS = 20;

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

/**
 * True once two connections `gapMs` apart were refused; false when that did not happen within `patienceMs`. `onOtherwise`
 * is told at once when the very first is not refused: then there may be other news than a death.
 */
export const witnessExit = async (
  question: ExitQuestion & { readonly patienceMs: number },
  onOtherwise: () => void,
): Promise<boolean> => {
  const endsAtMs = performance.now() + question.patienceMs;
  for (let first = true; performance.now() < endsAtMs; first = false) {
    if (await isRefused(question)) {
      await pause(question.gapMs);
      if (await isRefused(question)) return true;
    } else if (first) onOtherwise();
    await pause(AGAIN_MS);
  }
  return false;
};

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
