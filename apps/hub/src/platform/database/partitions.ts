/**
 * Which partitions there must be, and which must go: `event` by day (30 days), `change_log` by hour (24 h, and at most
 * 4 GiB: at 1,000 changes a second a day would be 17 GiB; who resumes from before is told GAP). Inserting where no
 * partition is fails, so the first call comes before anything is written, and a writer that meets a gap has it made at
 * once (missing-partition.ts). There is no DEFAULT partition: to attach one beside it locks it against everybody and reads
 * all of it, and a `pg_dump` that reads it would keep new ones from being made at all.
 */
import type { EntityManager } from 'typeorm';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

export interface PartitionedTable {
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

/** Undefined: not one that was made here. */
function numberOf(spec: PartitionedTable, name: string): number | undefined {
  const digits = name.startsWith(`${spec.table}_p`) ? name.slice(`${spec.table}_p`.length) : '';
  return /^\d{1,9}$/.test(digits) ? Number(digits) : undefined;
}

/** True for a partition of the table that ended longer ago than its keep. */
export function isExpired(spec: PartitionedTable, name: string, nowMs: number): boolean {
  const number = numberOf(spec, name);
  return number !== undefined && (number + 1) * spec.lengthMs < nowMs - spec.keepMs;
}

export interface Partition {
  readonly name: string;
  readonly bytes: number;
}

/** The partitions that must go at `nowMs`, for their age or for what those after them take up; newest first. */
export function chooseExpired(spec: PartitionedTable, partitions: readonly Partition[], nowMs: number): string[] {
  const known = partitions.flatMap(({ name, bytes }) => {
    const number = numberOf(spec, name);
    return number === undefined ? [] : [{ name, bytes, number }];
  });
  const newestFirst = known.sort((a, b) => b.number - a.number);
  const stays = Math.floor(nowMs / spec.lengthMs) - 1;
  let bytes = 0;
  return newestFirst
    .filter((one) => {
      bytes += one.bytes;
      const isOver = one.number < stays && bytes > (spec.keepBytes ?? Infinity);
      return isOver || isExpired(spec, one.name, nowMs);
    })
    .map((one) => one.name);
}

export const listPartitions = (manager: EntityManager, { table }: PartitionedTable): Promise<Partition[]> =>
  manager.query<Partition[]>(
    `SELECT c.relname AS name, pg_total_relation_size(c.oid) AS bytes
     FROM pg_inherits AS i JOIN pg_class AS c ON c.oid = i.inhrelid WHERE i.inhparent = $1::regclass`,
    [table],
  );

/** Not `now()`: the transaction may have waited for its lock. */
export async function readDatabaseMs(manager: EntityManager): Promise<number> {
  const [row] = await manager.query<{ nowMs: number }[]>(
    'SELECT extract(epoch FROM clock_timestamp())::float8 * 1000 AS "nowMs"',
  );
  if (!row) throw new Error('PostgreSQL does not tell its time');
  return row.nowMs;
}

export interface PartitionFailure {
  readonly partition: string;
  readonly error: unknown;
}

/**
 * Makes what is missing for the database's time and for this replica's: lines of the log carry the replica's. One that
 * cannot be made is told, and the others are made. Callers hold an advisory lock, since two makers of one partition would fail each other.
 */
export async function makePartitions(tx: EntityManager, ownMs: number): Promise<readonly PartitionFailure[]> {
  const clocks = [await readDatabaseMs(tx), ownMs];
  const failures: PartitionFailure[] = [];
  for (const spec of PARTITIONED_TABLES) {
    const known = new Set((await listPartitions(tx, spec)).map(({ name }) => name));
    const wanted = new Map(
      clocks.flatMap((nowMs) => planPartitions(spec, nowMs)).map(({ name, fromMs }) => [name, fromMs]),
    );
    for (const [partition, fromMs] of wanted) {
      if (known.has(partition)) continue;
      await tx
        .transaction((part) => makePartition(part, spec, partition, fromMs))
        .catch((error: unknown) => failures.push({ partition, error }));
    }
  }
  return failures;
}

/** Made apart and attached: `PARTITION OF` would take a lock that keeps everybody from the whole table. */
async function makePartition(tx: EntityManager, spec: PartitionedTable, name: string, fromMs: number): Promise<void> {
  const [from, to] = [fromMs, fromMs + spec.lengthMs].map((ms) => new Date(ms).toISOString());
  await tx.query(`CREATE TABLE ${name} (LIKE ${spec.table} INCLUDING DEFAULTS)`);
  await tx.query(`ALTER TABLE ${spec.table} ATTACH PARTITION ${name} FOR VALUES FROM ('${from}') TO ('${to}')`);
}
