/** What a command beside the hub is made of. */
import type { HubConfig } from '../platform/config/hub-config.ts';

export const ExitCode = {
  DONE: 0,
  /** It was looked, and something is wrong. */
  FAULTS: 1,
  /** It could not be done: arguments, configuration, database. */
  FAILED: 2,
} as const;
export type ExitCode = (typeof ExitCode)[keyof typeof ExitCode];

/** A line each. */
export interface Terminal {
  print(line: string): void;
  error(line: string): void;
}

export interface Command {
  readonly words: readonly string[];
  readonly usage: string;
  run(args: readonly string[], config: HubConfig, terminal: Terminal): Promise<ExitCode>;
}

/** Wrong arguments; the usage is printed with it. */
export class CommandError extends Error {}
