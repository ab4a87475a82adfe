/** One line of a benchmark: our figure beside the peer's, and the goal it is held against. */
export interface BenchRow {
  readonly name: string;
  readonly value: number;
  readonly unit: 'ms' | 's' | 'MiB' | 'KiB' | '%' | 'writes';
  /** Whose figure stands beside ours, and whether it was measured in this run or published. */
  readonly peer: string | null;
  readonly peerValue: number | null;
  /** Upper bound in the row's unit. */
  readonly goal: number | null;
  readonly met: boolean | null;
}

export type BenchFigure = Omit<BenchRow, 'met' | 'peer' | 'peerValue' | 'goal'> &
  Partial<Pick<BenchRow, 'peer' | 'peerValue' | 'goal'>>;

const toTenths = (value: number): number => Math.round(value * 10) / 10;

export function asBenchRow({ name, value, unit, peer = null, peerValue = null, goal = null }: BenchFigure): BenchRow {
  return {
    name,
    value: toTenths(value),
    unit,
    peer,
    peerValue: peerValue === null ? null : toTenths(peerValue),
    goal,
    met: goal === null ? null : value <= goal,
  };
}

/** The value below which the share `p` (0 to 1) of the samples lies: nearest rank. */
export function percentile(samples: readonly number[], p: number): number {
  const sorted = [...samples].sort((left, right) => left - right);
  const value = sorted[Math.max(0, Math.ceil(p * sorted.length) - 1)];
  if (value === undefined) throw new Error('no samples');
  return value;
}

/** A table for people. */
export function formatBenchTable(rows: readonly BenchRow[]): string {
  const cells = rows.map((row) => [
    row.name,
    `${row.value} ${row.unit}`,
    row.peerValue === null ? '-' : `${row.peerValue} ${row.unit}`,
    row.peerValue === null || row.peerValue === 0 ? '-' : (row.value / row.peerValue).toFixed(2),
    row.goal === null ? '-' : `≤ ${row.goal} ${row.unit}`,
    row.met === null ? '-' : row.met ? 'met' : 'MISSED',
    row.peer ?? '-',
  ]);
  const table = [['figure', 'ours', 'peer', 'ours/peer', 'goal', '', 'the peer'], ...cells];
  const widths = (table[0] ?? []).map((_, column) => Math.max(...table.map((line) => line[column]?.length ?? 0)));
  return table
    .map((line) =>
      line
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}
