/** Structured logs, one JSON line each on standard output. Fields that could hold a secret are cut by name. */
import type { LoggerService } from '@nestjs/common';
import { pino, type Logger } from 'pino';

const SECRET_FIELDS = ['token', 'password', 'authorization', 'privateKey', 'secret'];

export function createLogger(level: string, replica: string): Logger {
  return pino({
    level,
    base: { replica },
    timestamp: pino.stdTimeFunctions.isoTime,
    redact: { paths: SECRET_FIELDS.flatMap((name) => [name, `*.${name}`, `*.*.${name}`]), censor: '***' },
  });
}

/** Nest's own messages, at debug level: its start-up lines tell users nothing. */
export function toNestLogger(log: Logger): LoggerService {
  const nest = log.child({ part: 'nest' });
  const write =
    (level: 'debug' | 'warn' | 'error') =>
    (message: unknown, ...rest: unknown[]) => {
      if (message instanceof Error) nest[level]({ err: message }, message.message);
      else nest[level]({ context: rest.at(-1) }, String(message));
    };
  return {
    log: write('debug'),
    debug: write('debug'),
    verbose: write('debug'),
    warn: write('warn'),
    error: write('error'),
  };
}
