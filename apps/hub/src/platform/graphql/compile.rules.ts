/**
 * Which documents are compiled: those that run often within a minute, small ones sooner than large ones, large ones never, and
 * for one principal no more in a minute than its budget. Compiling takes about a quarter of a millisecond a field, in which
 * nothing else runs, and keeps six times the memory of the parsed document; it pays off on what a dashboard asks for all day.
 * Without it a caller who sends each of many large documents twice stops the process for most of the time.
 */
const WINDOW_MS = 60_000;
const FIELDS_PER_FURTHER_RUN = 25;
const MAX_FIELDS = 500;
const BUDGET_FIELDS = 2_000;

export interface Runs {
  readonly sinceMs: number;
  readonly count: number;
}

/** The runs of this document in the present minute, with the one that begins now. */
export const countRun = (runs: Runs | undefined, nowMs: number): Runs =>
  runs && nowMs - runs.sinceMs < WINDOW_MS ? { ...runs, count: runs.count + 1 } : { sinceMs: nowMs, count: 1 };

export const isWorthCompiling = (fields: number, { count }: Runs): boolean =>
  fields <= MAX_FIELDS && count >= 2 + Math.ceil(fields / FIELDS_PER_FURTHER_RUN);

/** Fields that one principal has had compiled, and that are not forgotten yet. */
export interface Spent {
  readonly fields: number;
  readonly atMs: number;
}

/** Undefined: this document has to wait. */
export function spendOnCompiling(spent: Spent | undefined, fields: number, nowMs: number): Spent | undefined {
  const forgotten = spent ? ((nowMs - spent.atMs) / WINDOW_MS) * BUDGET_FIELDS : 0;
  const left = Math.max(0, (spent?.fields ?? 0) - forgotten);
  return left + fields <= BUDGET_FIELDS ? { fields: left + fields, atMs: nowMs } : undefined;
}
