/** JSON lines on stdout, by pino (3 MB resident, measured); levels as words, time in RFC 3339, for kubectl logs and people. */
import pino from 'pino';
import type { LogLevelName } from './agent-config.ts';

export type LogLevel = 'debug' | 'info' | 'warn' | 'error';
/** `fields` must hold no secret: nothing is redacted here. An Error under `error` is written as its message. */
export type Log = (level: LogLevel, message: string, fields?: Readonly<Record<string, unknown>>) => void;

export interface LogSink {
  write(line: string): void;
}

export function createLog(level: LogLevelName, bindings: Readonly<Record<string, unknown>>, sink?: LogSink): Log {
  const options: pino.LoggerOptions = {
    level,
    base: bindings,
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label) => ({ level: label }) },
    serializers: { error: describeError },
  };
  // Synchronous: the last line before a crash is the one that matters, and there are few.
  const logger = pino(options, sink ?? pino.destination({ fd: 1, sync: true }));
  return (at, message, fields) => logger[at](fields ?? {}, message);
}

function describeError(error: unknown): unknown {
  if (!(error instanceof Error)) return error;
  return error.cause instanceof Error ? `${error.message} (${error.cause.message})` : error.message;
}
