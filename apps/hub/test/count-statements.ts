/** Every statement that this process sends to PostgreSQL while `work` runs, by its text. */
import pg from 'pg';

export async function countStatements(work: () => Promise<unknown>): Promise<ReadonlyMap<string, number>> {
  const counts = new Map<string, number>();
  const { query } = pg.Client.prototype as { query: (...args: unknown[]) => unknown };
  const counting = function (this: pg.Client, ...args: unknown[]): unknown {
    const [first] = args;
    const text = typeof first === 'string' ? first : String((first as { text?: string } | undefined)?.text);
    counts.set(text, (counts.get(text) ?? 0) + 1);
    return query.apply(this, args);
  };
  Object.assign(pg.Client.prototype, { query: counting });
  try {
    await work();
  } finally {
    Object.assign(pg.Client.prototype, { query });
  }
  return counts;
}
