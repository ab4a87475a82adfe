/**
 * Structured logs, one JSON line each on standard output. Every line is bounded, and values under the names of secrets are cut
 * (`boundFields`); equal lines are written once a minute with their count (`LogGate`). So no agent, tenant or
 * stranger decides how much is written, or puts objects of others into it.
 */
import type { LoggerService } from '@nestjs/common';
import { type LogFields, LogGate, boundFields, boundText, nameLine } from '#domain';
import { pino, type DestinationStream, type LogFn, type Logger, type LoggerOptions } from 'pino';

const MAX_MESSAGE = 500;
const INFO = 30;
const ERROR = 50;

interface Line {
  readonly fields: Readonly<Record<string, unknown>>;
  readonly message: string;
}
interface Held extends Line {
  readonly logger: Logger;
  readonly line: LogFn;
}

export interface LogOutput {
  readonly destination: DestinationStream;
  readonly nowMs: () => number;
}

export function createLogger(level: string, replica: string, output?: LogOutput): Logger {
  const gate = new LogGate<Held>({
    nowMs: output?.nowMs ?? ((): number => performance.now()),
    later: (work, ms) => void setTimeout(work, ms).unref(),
    tell: ({ note, repeated, subjects }) => {
      const requestIds = subjects.length > 0 ? { requestIds: subjects } : {};
      write({ ...note, fields: { ...note.fields, repeated, ...requestIds } });
    },
  });
  const options: LoggerOptions = {
    level,
    base: { replica },
    timestamp: pino.stdTimeFunctions.isoTime,
    // Described before it comes here.
    serializers: { err: (error: unknown) => error },
    hooks: {
      logMethod(args, line, at) {
        takeLine(gate, { logger: this, line, ...readLine(args) }, at);
      },
    },
  };
  return output === undefined ? pino(options) : pino(options, output.destination);
}

function takeLine(gate: LogGate<Held>, held: Held, at: number): void {
  const { fields, message } = held;
  const note = (): Held => ({ ...held, fields: boundFields(fields) });
  const { requestId } = fields;
  const subject = typeof requestId === 'string' ? boundText(requestId, MAX_MESSAGE) : undefined;
  const named = nameLine({ ...held.logger.bindings(), ...fields });
  // Debug was asked for, and a fatal line is the last one.
  if (at < INFO || at > ERROR || gate.pass({ ...named, message: `${at} ${message}`, note, subject })) write(note());
}

const write = ({ logger, line, fields, message }: Held): void => line.call(logger, fields, message);

/** What pino takes: an error or fields with a message, or either alone. */
function readLine([first, second]: unknown[]): Line {
  const fields = first instanceof Error ? { err: first } : typeof first === 'object' && first !== null ? first : {};
  const { err } = fields as { err?: unknown };
  const own = err instanceof Error ? err.message : '';
  const message = typeof first === 'string' ? first : typeof second === 'string' ? second : own;
  return { fields: fields as LogFields, message: boundText(message, MAX_MESSAGE) };
}

/** Nest's own messages, at debug level: its start-up lines tell users nothing. Its texts may quote a stranger. */
export function toNestLogger(log: Logger): LoggerService {
  const nest = log.child({ part: 'nest' });
  const debug = (message: unknown, ...rest: unknown[]): void => nest.debug({ context: rest.at(-1) }, String(message));
  const report =
    (level: 'warn' | 'error') =>
    (message: unknown, ...rest: unknown[]): void =>
      nest[level](
        message instanceof Error ? { err: message } : { context: rest.at(-1), text: String(message) },
        'Nest reports a failure',
      );
  return { log: debug, debug, verbose: debug, warn: report('warn'), error: report('error') };
}
