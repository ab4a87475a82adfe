// `npm run bench -- NAME [options] [--json]`: runs one benchmark and prints its table, or its rows as JSON.
import { formatBenchTable, type BenchRow } from './bench-row.ts';
import { runFleet } from './fleet/run-fleet.ts';
import { runHostile } from './hostile/run-hostile.ts';
import { runOperator } from './operator/run-operator.ts';
import { runSkeleton } from './skeleton/run-skeleton.ts';

const BENCHES: Readonly<Record<string, (args: readonly string[]) => Promise<BenchRow[]>>> = {
  skeleton: runSkeleton,
  operator: runOperator,
  fleet: runFleet,
  hostile: runHostile,
};

const args = process.argv.slice(2);
const name = args.find((arg) => !arg.startsWith('--')) ?? '';
const bench = BENCHES[name];
if (!bench) {
  console.error(`usage: npm run bench -- NAME [--json]; NAME is one of: ${Object.keys(BENCHES).join(', ')}`);
  process.exit(2);
}
const rows = await bench(args.slice(args.indexOf(name) + 1));
console.log(args.includes('--json') ? JSON.stringify(rows, undefined, 2) : formatBenchTable(rows));
process.exit(0); // clients of the clusters may hold sockets; everything is stopped by now
