/**
 * What a client learns of a failure that was not made for clients: an outage of the database by its name and what to do,
 * and of everything else only that it happened. Without it driver, file and SQL texts leak.
 */
import { explainOutage } from '../database/outage-text.ts';
import { nameOutage, type Outage } from '../database/sql-state.ts';
import type { ApiErrorCode } from './api-error.ts';

export interface Failure {
  readonly code: ApiErrorCode;
  readonly message: string;
  /** Told as `extensions.reason`. */
  readonly reason?: Outage;
}

export function explainFailure(error: unknown, requestId: string): Failure {
  const reason = nameOutage(error);
  const quote = `Quote request id ${requestId}.`;
  if (reason === undefined) return { code: 'INTERNAL', message: `Internal error. ${quote}` };
  const text = explainOutage(reason);
  return { code: 'UNAVAILABLE', message: `${text.charAt(0).toUpperCase()}${text.slice(1)}. ${quote}`, reason };
}
