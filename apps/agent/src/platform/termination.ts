/** How the process ends: asked to (SIGTERM, Ctrl-C), or by a bug, which is logged before the kubelet starts it anew. */
import type { Log } from './logger.ts';

/** Resolves at the first SIGTERM or SIGINT; a second one ends the process at once. */
export function whenTerminationIsAsked(): Promise<NodeJS.Signals> {
  return new Promise((resolve) => {
    let asked = false;
    const handle = (signal: NodeJS.Signals): void => {
      if (asked) process.exit(1);
      asked = true;
      resolve(signal);
    };
    process.on('SIGTERM', handle);
    process.on('SIGINT', handle);
  });
}

/** Nothing is known of the state after an error that nobody expected, and everything needed to resume is outside. */
export function exitOnBugs(log: Log): void {
  const exit = (error: unknown): void => {
    const stack = error instanceof Error ? error.stack : undefined;
    log('error', 'unexpected error, the process ends', { error, stack });
    process.exit(1);
  };
  process.on('uncaughtException', exit);
  process.on('unhandledRejection', exit);
}
