/**
 * JSON lines on stdout, by pino (3 MB resident, measured); levels as words, time in RFC 3339, for kubectl logs and people. Every
 * line is bounded, and equal ones are written once a minute with their count: a refused object that comes back for ever, or
 * an API server that answers with whole objects, does not fill the disk of a node.
 */
import { boundFields, boundText, describeError, LogGate, type LogFields, nameLine } from '#domain';
import pino from 'pino';
import type { LogLevelName } from './agent-config.ts';

export type LogLevel = 'debug' | 'info' | 'warn' | 'error';
/** Values under names such as `password` are cut; no other field may hold a secret. An Error is written as its message. */
export type Log = (level: LogLevel, message: string, fields?: Readonly<Record<string, unknown>>) => void;

export interface LogSink {
  write(line: string): void;
}

const MAX_MESSAGE = 500;

interface Held {
  readonly level: LogLevel;
  readonly message: string;
  readonly fields: LogFields;
}

export function createLog(level: LogLevelName, bindings: Readonly<Record<string, unknown>>, sink?: LogSink): Log {
  const options: pino.LoggerOptions = {
    level,
    base: bindings,
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label) => ({ level: label }) },
  };
  // Synchronous: the last line before a crash is the one that matters, and there are few.
  const logger = pino(options, sink ?? pino.destination({ fd: 1, sync: true }));
  const write = ({ level: at, fields, message }: Held): void => logger[at](fields, message);
  const gate = new LogGate<Held>({
    nowMs: () => performance.now(),
    later: (work, ms) => void setTimeout(work, ms).unref(),
    tell: ({ note, repeated }) => write({ ...note, fields: { ...note.fields, repeated } }),
  });
  return (at, text, fields = {}) => {
    if (!logger.isLevelEnabled(at)) return;
    const message = boundText(text, MAX_MESSAGE);
    const note = (): Held => ({ level: at, message, fields: boundFields({ ...fields, ...shortenError(fields) }) });
    if (at === 'debug' || gate.pass({ ...nameLine(fields), message: `${at} ${message}`, note })) write(note());
  };
}

function shortenError({ error }: LogFields): LogFields {
  if (!(error instanceof Error)) return {};
  const { message, cause } = describeError(error);
  return { error: cause === undefined ? message : `${message} (${cause.message})` };
}
