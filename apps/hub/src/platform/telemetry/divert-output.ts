/**
 * What libraries and Node itself would print goes through the log, bounded: texts of strangers (a library prints the protocol that a
 * WebSocket asks for), Node's warnings, and errors that nobody caught, which Node prints with all that hangs on them.
 */
import type { Logger } from 'pino';

const LEVELS = {
  log: 'info',
  info: 'info',
  debug: 'debug',
  trace: 'debug',
  dir: 'info',
  warn: 'warn',
  error: 'warn',
} as const;

/** For the whole process, once. */
export function divertOutput(log: Logger, end: (exitCode: number) => void): void {
  for (const [method, level] of Object.entries(LEVELS) as [keyof typeof LEVELS, (typeof LEVELS)['log']][]) {
    console[method] = (...printed: unknown[]): void => log[level]({ part: 'console', printed }, 'a library prints');
  }
  process.removeAllListeners('warning');
  process.on('warning', (warning) => log.warn({ err: warning }, 'Node warns'));
  // A fault that nobody caught leaves a state that nobody knows: the process ends, as it does without this.
  const crash = (error: unknown): void => {
    const err = error instanceof Error ? error : new Error(String(error));
    log.fatal({ err }, 'unexpected fault, the process ends');
    end(1);
  };
  process.on('uncaughtException', crash);
  process.on('unhandledRejection', crash);
}
