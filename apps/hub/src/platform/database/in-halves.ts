/**
 * Does a piece of work for many entries at once, and finds those that it fails for: the work is halved until they are alone, and
 * done for all others. Each call of `work` is all or nothing. What keeps everybody from the database is thrown, since
 * halves of it would fail in the same way.
 */
import { isOfOneEntry } from './sql-state.ts';

export interface Failed<T> {
  readonly entry: T;
  readonly error: unknown;
}

/** Returns the entries that the work fails for. */
export async function inHalves<T>(
  entries: readonly T[],
  work: (some: readonly T[]) => Promise<unknown>,
): Promise<readonly Failed<T>[]> {
  const [first] = entries;
  if (first === undefined) return [];
  try {
    await work(entries);
    return [];
  } catch (error) {
    if (!isOfOneEntry(error)) throw error;
    if (entries.length === 1) return [{ entry: first, error }];
  }
  const middle = Math.ceil(entries.length / 2);
  return [...(await inHalves(entries.slice(0, middle), work)), ...(await inHalves(entries.slice(middle), work))];
}
