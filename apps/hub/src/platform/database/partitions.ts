/**
 * Makes partitions ahead of time and drops those past their keep: `event` by day (30 days), `change_log` by hour
 * (24 h, and at most 4 GiB: at 1,000 changes a second a day would be 17 GiB; who resumes from before is told GAP). Inserting where no partition is fails, so the first call comes before anything is written.
 */
import type { EntityManager } from 'typeorm';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

interface PartitionedTable {
  readonly table: string;
  readonly lengthMs: number;
  readonly ahead: number;
  readonly keepMs: number;
  /** Of whole partitions, oldest first; the present one and the one before it stay in any case. */
  readonly keepBytes?: number;
}

export const PARTITIONED_TABLES: readonly PartitionedTable[] = [
  { table: 'event', lengthMs: DAY_MS, ahead: 3, keepMs: 30 * DAY_MS },
  { table: 'change_log', lengthMs: HOUR_MS, ahead: 6, keepMs: DAY_MS, keepBytes: 4 * 2 ** 30 },
];

/** The partitions that must exist at `nowMs`: from one before the present one to `ahead` after it. */
export function planPartitions(spec: PartitionedTable, nowMs: number): readonly { name: string; fromMs: number }[] {
  const present = Math.floor(nowMs / spec.lengthMs);
  const numbers = Array.from({ length: spec.ahead + 2 }, (_, index) => present - 1 + index);
  return numbers.map((number) => ({ name: `${spec.table}_p${number}`, fromMs: number * spec.lengthMs }));
}

/** True for a partition of the table that ended longer ago than its keep. */
export function isExpired(spec: PartitionedTable, name: string, nowMs: number): boolean {
  const number = Number(name.slice(`${spec.table}_p`.length));
  return Number.isSafeInteger(number) && (number + 1) * spec.lengthMs < nowMs - spec.keepMs;
}

export interface Partition {
  readonly name: string;
  readonly bytes: number;
}

/** The partitions that must go at `nowMs`, for their age or for what those after them take up. */
export function chooseExpired(spec: PartitionedTable, partitions: readonly Partition[], nowMs: number): string[] {
  const numberOf = ({ name }: Partition): number => Number(name.slice(`${spec.table}_p`.length));
  const known = partitions.filter((one) => Number.isSafeInteger(numberOf(one)));
  const newestFirst = known.sort((a, b) => numberOf(b) - numberOf(a));
  const stays = Math.floor(nowMs / spec.lengthMs) - 1;
  let bytes = 0;
  return newestFirst
    .filter((one) => {
      bytes += one.bytes;
      const isOver = numberOf(one) < stays && bytes > (spec.keepBytes ?? Infinity);
      return isOver || isExpired(spec, one.name, nowMs);
    })
    .map((one) => one.name);
}

/**
 * A partition is dropped only when nobody reads the table: the lock that it takes is one of the whole table, and while it
 * waits for a `pg_dump`, every write of the hub would wait behind it. So it waits this long, and is tried at the next look.
 */
const DROP_TIMEOUT_MS = 250;
const LOCK_NOT_AVAILABLE = '55P03';

/** Idempotent; callers hold an advisory lock, since two makers of one partition would fail each other. */
export async function maintainPartitions(tx: EntityManager, nowMs: number): Promise<void> {
  const expired: string[] = [];
  for (const spec of PARTITIONED_TABLES) {
    const partitions = await tx.query<Partition[]>(
      `SELECT c.relname AS name, pg_total_relation_size(c.oid) AS bytes
       FROM pg_inherits AS i JOIN pg_class AS c ON c.oid = i.inhrelid WHERE i.inhparent = $1::regclass`,
      [spec.table],
    );
    const known = new Set(partitions.map(({ name }) => name));
    for (const { name, fromMs } of planPartitions(spec, nowMs)) {
      if (!known.has(name)) await makePartition(tx, spec, name, fromMs);
    }
    expired.push(...chooseExpired(spec, partitions, nowMs));
  }
  await dropWhenFree(tx, expired);
}

/** Made apart and attached: `PARTITION OF` would take the same lock of the whole table. */
async function makePartition(tx: EntityManager, spec: PartitionedTable, name: string, fromMs: number): Promise<void> {
  const [from, to] = [fromMs, fromMs + spec.lengthMs].map((ms) => new Date(ms).toISOString());
  await tx.query(`CREATE TABLE ${name} (LIKE ${spec.table} INCLUDING DEFAULTS)`);
  await tx.query(`ALTER TABLE ${spec.table} ATTACH PARTITION ${name} FOR VALUES FROM ('${from}') TO ('${to}')`);
}

/** Last in its transaction, since what it locks stays locked until the end. */
async function dropWhenFree(tx: EntityManager, names: readonly string[]): Promise<void> {
  if (names.length === 0) return;
  await tx.query(`SET LOCAL lock_timeout = ${DROP_TIMEOUT_MS}`);
  try {
    await tx.transaction(async (part) => {
      for (const name of names) await part.query(`DROP TABLE ${name}`);
    });
  } catch (error) {
    if ((error as { code?: string }).code !== LOCK_NOT_AVAILABLE) throw error;
  }
  await tx.query('SET LOCAL lock_timeout = DEFAULT');
}
