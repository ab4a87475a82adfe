/**
 * What PostgreSQL says a failed statement failed of, by its SQLSTATE. Merged work asks this before anything else: what one
 * entry brings must not fail the others, and what is nobody's fault is tried again.
 */
export const readSqlState = (error: unknown): string =>
  (error as { driverError?: { code?: string } }).driverError?.code ?? '';

/** Why nobody could work on the database just now. Stable: logs, `/readyz` and answers of the API say them. */
export type Outage =
  | 'DATABASE_LACKS_PARTITION'
  | 'DATABASE_READ_ONLY'
  | 'DATABASE_DISK_FULL'
  | 'DATABASE_OUT_OF_MEMORY'
  | 'DATABASE_OUT_OF_RESOURCES'
  | 'DATABASE_DISK_FAILS'
  | 'DATABASE_CORRUPTED'
  | 'DATABASE_LOCKED'
  | 'DATABASE_LOGIN_REFUSED'
  | 'DATABASE_MISSING'
  | 'DATABASE_FULL'
  | 'DATABASE_STARTING'
  | 'DATABASE_REFUSED'
  | 'DATABASE_UNREACHABLE'
  | 'DATABASE_SILENT';

const OUTAGES: readonly (readonly [RegExp, Outage])[] = [
  [/^25006$/, 'DATABASE_READ_ONLY'],
  [/^53100$/, 'DATABASE_DISK_FULL'],
  [/^53200$/, 'DATABASE_OUT_OF_MEMORY'],
  [/^53300$/, 'DATABASE_FULL'], // too_many_connections
  [/^53...$/, 'DATABASE_OUT_OF_RESOURCES'],
  [/^58...$/, 'DATABASE_DISK_FAILS'], // io_error, a file of the database that is not there
  [/^XX00[12]$/, 'DATABASE_CORRUPTED'],
  [/^55P03$/, 'DATABASE_LOCKED'], // a lock was not to be had within lock_timeout
  [/^28...$/, 'DATABASE_LOGIN_REFUSED'],
  [/^3D000$/, 'DATABASE_MISSING'],
  [/^57P0[1-3]$/, 'DATABASE_STARTING'], // shut down, crashed, starting up
  [/^(ECONNREFUSED|ENOENT)$/, 'DATABASE_REFUSED'],
  // 25P03, 57P04, 57P05: the session was ended inside a transaction, with its database, or for its silence
  [/^(ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|ECONN.*|EPIPE|08...|25P03|57P0[45])$/, 'DATABASE_UNREACHABLE'],
  [/^ETIMEDOUT$/, 'DATABASE_SILENT'],
];
/** What pg says without a code. */
const OUTAGE_TEXTS: readonly (readonly [RegExp, Outage])[] = [
  [/timeout exceeded when trying to connect|timeout expired|connection timeout|has not answered/, 'DATABASE_SILENT'],
  [/Connection terminated/, 'DATABASE_UNREACHABLE'],
];

/**
 * No partition for a row: SQLSTATE 23514 as of a violated check, but of no named constraint. It is about when something was
 * written and not about what, and the next one may be stored: taken for content, all that agents tell would be dropped.
 */
export function isPartitionMissing(error: unknown): boolean {
  const { driverError, code, constraint } = error as { driverError?: unknown; code?: unknown; constraint?: unknown };
  if (driverError !== undefined) return isPartitionMissing(driverError);
  return code === '23514' && constraint === undefined;
}

/** What keeps everybody from the database, when this error is of that kind: it may pass by itself. */
export function nameOutage(error: unknown): Outage | undefined {
  if (isPartitionMissing(error)) return 'DATABASE_LACKS_PARTITION';
  const { code = readSqlState(error), message = '' } = error as { code?: unknown; message?: string };
  const byCode = OUTAGES.find(([pattern]) => pattern.test(String(code)))?.[1];
  return byCode ?? OUTAGE_TEXTS.find(([pattern]) => pattern.test(message))?.[1];
}

/**
 * Not what was written but the state of the database, or what others do in it: the same work may pass later as it is.
 * 25 and 55: a transaction or an object in the wrong state, 28 and 3D: the login, F0: its configuration, 58: its disk.
 */
const PASSES_LATER = /^(08|25|28|3D|40|53|55|57|58|F0)/;

/**
 * What comes again with the same content, so that it has to be found and set apart. Every SQLSTATE that is not known to pass by
 * itself is one: a value of a wrong kind (21, 22, 23; \u0000 in jsonb is 22P05), an index row that is too large (54000),
 * a bug of the server (XX000), a trigger that refuses (P0001). A list of the kinds that come from content would
 * never be complete, and what it lacks stops the work of everybody.
 */
export const isAboutContent = (error: unknown): boolean => {
  const state = readSqlState(error);
  return /^[0-9A-Z]{5}$/.test(state) && !PASSES_LATER.test(state) && nameOutage(error) === undefined;
};

/** Of these no second try is needed to know that the content is at fault: values, constraints, limits of the server. */
export const isSurelyContent = (error: unknown): boolean =>
  isAboutContent(error) && /^(21|22|23|54)/.test(readSqlState(error));

/** Others are in the way (a deadlock, a lock, a time limit): without the one that waits for them, the rest may pass now. */
export const isAboutOthers = (error: unknown): boolean => /^(40|55|57014)/.test(readSqlState(error));

/** The rest is better off without the entry that this comes from: it is to be looked for. A page that is corrupted is that of some rows. */
export const isOfOneEntry = (error: unknown): boolean =>
  isAboutContent(error) || isAboutOthers(error) || /^XX00[12]$/.test(readSqlState(error));

/** query_canceled: the statement lasted for longer than statement_timeout of its pool. */
export const isStatementTimeout = (error: unknown): boolean => {
  const { code = readSqlState(error) } = error as { code?: unknown };
  return code === '57014';
};
