/**
 * What PostgreSQL says a failed statement failed of, by its SQLSTATE. Merged work asks this before anything else: what one
 * entry brings must not fail the others, and what is nobody's fault is tried again.
 */
const readSqlState = (error: unknown): string => (error as { driverError?: { code?: string } }).driverError?.code ?? '';

/** Classes of data and constraint errors, \u0000 in jsonb (22P05) among them: they come again with the same content. */
export const isAboutContent = (error: unknown): boolean => /^(21|22|23)/.test(readSqlState(error));

/** Deadlock, serialization failure: one side was let go on, and the same work may pass the next time. */
export const isAboutOthers = (error: unknown): boolean => /^(40P01|40001)/.test(readSqlState(error));
