/** How the cost of one unit changes with the size of the fleet: at 1.0 times it grows as the fleet does, and no faster. */
import { asBenchRow, percentile, type BenchRow } from '../bench-row.ts';
import type { FleetFigures } from './fleet-run.ts';

interface Unit {
  readonly name: string;
  readonly unit: BenchRow['unit'];
  readonly of: (figures: FleetFigures) => number;
}

const UNITS: readonly Unit[] = [
  {
    name: 'restart → in sync, an agent',
    unit: 'ms',
    of: (f) => (f.restart.fromFirstAcceptSeconds * 1000) / f.clusters,
  },
  {
    name: 'CPU of hub and PostgreSQL, an agent that comes back',
    unit: 'ms',
    of: (f) => ((f.restart.hubCpuSeconds + f.restart.postgresCpuSeconds) * 1000) / f.clusters,
  },
  { name: 'steady CPU of the hub, 1,000 agents', unit: '%', of: (f) => (f.steady.span.hubCore * 1000) / f.clusters },
  {
    name: 'steady CPU of PostgreSQL, 1,000 agents',
    unit: '%',
    of: (f) => (f.steady.span.postgresCore * 1000) / f.clusters,
  },
  { name: 'hub RSS, an agent', unit: 'KiB', of: (f) => (f.steady.hubRssMib * 1024) / f.clusters },
  { name: 'database, an agent', unit: 'KiB', of: (f) => (f.steady.databaseMib * 1024) / f.clusters },
  { name: 'change → applied, idle, P99', unit: 'ms', of: (f) => percentile(f.changeIdleMs, 0.99) },
  {
    name: 'fleetHealth by region and phase, P99',
    unit: 'ms',
    of: (f) => f.queries['fleetHealth by region and phase'].p99Ms,
  },
  { name: 'list, phase Degraded, P99', unit: 'ms', of: (f) => f.queries['list, phase Degraded'].p99Ms },
];

/** `runs`: one form of TLS, ascending in size. Nothing for a single size. */
export function growthRows(runs: readonly FleetFigures[], group: string): BenchRow[] {
  if (runs.length < 2) return [];
  return UNITS.flatMap(({ name, unit, of }) =>
    runs.map((figures, at) => {
      const before = runs[at - 1];
      const peer =
        before === undefined ? {} : { peer: `at ${before.clusters.toLocaleString('en')}`, peerValue: of(before) };
      return asBenchRow({
        group,
        name: `${name}, at ${figures.clusters.toLocaleString('en')}`,
        value: of(figures),
        unit,
        ...peer,
      });
    }),
  );
}
