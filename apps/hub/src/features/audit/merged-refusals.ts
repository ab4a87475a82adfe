/**
 * Which refusals (dry runs and failures too) get a row of their own in the audit, and which are counted into one. The first
 * of a kind is written at once; those of the same principal, action, result, code and target within a minute are counted,
 * and written as one row at its end. A principal has so many rows at once and so many a minute; what is over is counted in
 * one row a minute. Without this anyone who may only read fills the disk by mutations that are refused.
 *
 * A replica counts for itself. One that is killed loses what it has counted, never the first row.
 */
import type { NewAuditRow } from './audit.repository.ts';

export const WINDOW_MS = 60_000;
/** At once, for a person who tries much; then as they come back. */
export const MOST_ROWS = 30;
export const ROWS_A_MINUTE = 2;

interface Window {
  readonly row: NewAuditRow;
  readonly untilMs: number;
  count: number;
  first: Date;
  last: Date;
}

/** What had no row left, by what it was. */
interface Rest extends Omit<Window, 'row'> {
  readonly principal: string;
  readonly kinds: Map<string, number>;
}

interface Budget {
  rows: number;
  atMs: number;
  rest: Rest | undefined;
  readonly windows: Map<string, Window>;
}

export class MergedRefusals {
  readonly #budgets = new Map<string, Budget>();

  /** True: the row is to be written now. False: it is counted, and is in a row of `due` later. */
  note(principalId: string, row: NewAuditRow, nowMs: number): boolean {
    const budget = this.#budgetOf(principalId, nowMs);
    const key = keyOf(row);
    const window = budget.windows.get(key);
    if (window) return countIn(window, row.at, row.at, 1);
    if (takeRow(budget, nowMs)) {
      const kept = { ...row, before: null, after: null };
      budget.windows.set(key, { row: kept, untilMs: nowMs + WINDOW_MS, count: 0, first: row.at, last: row.at });
      return true;
    }
    return countRest(budget, { row, count: 1, first: row.at, last: row.at }, nowMs);
  }

  /** A row that was to be written could not be: it is in the row of its window instead. */
  putBack(principalId: string, row: NewAuditRow): void {
    const window = this.#budgets.get(principalId)?.windows.get(keyOf(row));
    if (!window) return;
    window.count += 1;
    window.first = row.at;
  }

  /** The rows of the minutes that are over by `nowMs`; `isLast`: of all of them. */
  due(nowMs: number, isLast = false): NewAuditRow[] {
    const isOver = ({ untilMs }: { readonly untilMs: number }): boolean => isLast || untilMs <= nowMs;
    const rows: NewAuditRow[] = [];
    for (const [principalId, budget] of this.#budgets) {
      rows.push(...closeWindows(budget, isOver, nowMs));
      if (budget.rest && isOver(budget.rest)) {
        rows.push(sumUpRest(budget.rest));
        budget.rest = undefined;
      }
      const isIdle = budget.windows.size === 0 && budget.rest === undefined;
      if (isIdle && refill(budget, nowMs) >= MOST_ROWS) this.#budgets.delete(principalId);
    }
    return rows;
  }

  /** Principals that are remembered: those that were refused within the last quarter of an hour. */
  get size(): number {
    return this.#budgets.size;
  }

  #budgetOf(principalId: string, nowMs: number): Budget {
    const known = this.#budgets.get(principalId);
    if (known) return known;
    const made: Budget = { rows: MOST_ROWS, atMs: nowMs, rest: undefined, windows: new Map() };
    this.#budgets.set(principalId, made);
    return made;
  }
}

const keyOf = (row: NewAuditRow): string => JSON.stringify([row.action, row.result, row.code, row.target]);

function refill(budget: Budget, nowMs: number): number {
  budget.rows = Math.min(MOST_ROWS, budget.rows + ((nowMs - budget.atMs) / 60_000) * ROWS_A_MINUTE);
  budget.atMs = nowMs;
  return budget.rows;
}

function takeRow(budget: Budget, nowMs: number): boolean {
  if (refill(budget, nowMs) < 1) return false;
  budget.rows -= 1;
  return true;
}

function closeWindows(budget: Budget, isOver: (window: Window) => boolean, nowMs: number): NewAuditRow[] {
  const rows: NewAuditRow[] = [];
  for (const [key, window] of budget.windows) {
    if (!isOver(window)) continue;
    budget.windows.delete(key);
    if (window.count === 0) continue;
    if (takeRow(budget, nowMs)) rows.push(sumUp(window));
    else countRest(budget, window, nowMs);
  }
  return rows;
}

function countIn(counted: Pick<Window, 'count' | 'first' | 'last'>, first: Date, last: Date, count: number): false {
  if (counted.count === 0) counted.first = first;
  counted.count += count;
  counted.last = last;
  return false;
}

function countRest(budget: Budget, more: Omit<Window, 'untilMs'>, nowMs: number): false {
  const { row, first, last, count } = more;
  budget.rest ??= { principal: row.principal, untilMs: nowMs + WINDOW_MS, kinds: new Map(), count: 0, first, last };
  const kind = [row.action, row.result, row.code].filter((part) => part !== null).join(' ');
  budget.rest.kinds.set(kind, (budget.rest.kinds.get(kind) ?? 0) + count);
  return countIn(budget.rest, first, last, count);
}

const sumUp = ({ row, count, first, last }: Window): NewAuditRow => ({ ...row, at: first, count, last_at: last });

/** Names of actions and codes are the API's own, so their number is bounded. */
const sumUpRest = ({ principal, kinds, count, first, last }: Rest): NewAuditRow => ({
  at: first,
  project_id: null,
  principal,
  action: 'severalRefused',
  target: null,
  before: null,
  after: Object.fromEntries([...kinds].sort(([a], [b]) => (a < b ? -1 : 1))),
  result: 'REFUSED',
  code: null,
  request_id: null,
  count,
  last_at: last,
});
