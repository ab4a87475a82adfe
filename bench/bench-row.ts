/** One line of a benchmark: our figure beside the peer's, and the goal it is held against. */
export interface BenchRow {
  readonly name: string;
  readonly value: number;
  readonly unit: 'ms' | 's' | 'MiB' | 'KiB' | 'KiB/s' | '/s' | '/min' | '%' | 'writes' | '';
  /** Whose figure stands beside ours, and whether it was measured in this run or published. */
  readonly peer: string | null;
  readonly peerValue: number | null;
  /** Upper bound in the row's unit. */
  readonly goal: number | null;
  readonly met: boolean | null;
  /** Rows of one group stand together under its name. */
  readonly group: string | null;
}

export type BenchFigure = Omit<BenchRow, 'met' | 'peer' | 'peerValue' | 'goal' | 'group'> &
  Partial<Pick<BenchRow, 'peer' | 'peerValue' | 'goal' | 'group'>>;

/** Two digits of what is small: a tenth of a percent is all that some things cost. */
const toTenths = (value: number): number =>
  Math.abs(value) < 1 ? Math.round(value * 100) / 100 : Math.round(value * 10) / 10;

export function asBenchRow(figure: BenchFigure): BenchRow {
  const { name, value, unit, peer = null, peerValue = null, goal = null, group = null } = figure;
  return {
    name,
    value: toTenths(value),
    unit,
    peer,
    peerValue: peerValue === null ? null : toTenths(peerValue),
    goal,
    met: goal === null ? null : value <= goal,
    group,
  };
}

/** The value below which the share `p` (0 to 1) of the samples lies: nearest rank. */
export function percentile(samples: readonly number[], p: number): number {
  const sorted = [...samples].sort((left, right) => left - right);
  const value = sorted[Math.max(0, Math.ceil(p * sorted.length) - 1)];
  if (value === undefined) throw new Error('no samples');
  return value;
}

/** A table for people; each group under its name. */
export function formatBenchTable(rows: readonly BenchRow[]): string {
  const groups = [...new Set(rows.map((row) => row.group))];
  return groups
    .map((group) => {
      const table = formatGroup(rows.filter((row) => row.group === group));
      return group === null ? table : `\n# ${group}\n${table}`;
    })
    .join('\n');
}

function formatGroup(rows: readonly BenchRow[]): string {
  const withUnit = (value: number, unit: string): string => `${value} ${unit}`.trim();
  const cells = rows.map((row) => [
    row.name,
    withUnit(row.value, row.unit),
    row.peerValue === null ? '-' : withUnit(row.peerValue, row.unit),
    row.peerValue === null || row.peerValue === 0 ? '-' : (row.value / row.peerValue).toFixed(2),
    row.goal === null ? '-' : withUnit(row.goal, row.unit).replace(/^/, '≤ '),
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
