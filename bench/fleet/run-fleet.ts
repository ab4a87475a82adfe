/**
 * `npm run bench -- fleet --clusters N[,N…]`: one hub, one PostgreSQL and a simulated fleet of N member clusters with ten
 * RedisClusters each, all on this machine, over real TLS. Twice: TLS in the hub, and TLS ended in front by HAProxy.
 */
import { mkdir, writeFile } from 'node:fs/promises';
import { cpus, totalmem } from 'node:os';
import { join } from 'node:path';
import { buildHub } from '../../tools/build/build-all.ts';
import type { BenchRow } from '../bench-row.ts';
import { parseFleetOptions } from './fleet-options.ts';
import { toRows } from './fleet-rows.ts';
import { runOneFleet, type FleetFigures } from './fleet-run.ts';
import { formatFigures } from './format-figures.ts';
import { growthRows } from './growth-rows.ts';
import { raiseFileLimit } from './raise-file-limit.ts';

/** Ignored by git. */
const RESULTS_FOLDER = '.atoll/bench';
const FORM = { hub: 'TLS in the hub', haproxy: 'TLS ended by HAProxy' } as const;

export async function runFleet(args: readonly string[]): Promise<BenchRow[]> {
  const { sizes, forms } = parseFleetOptions(args);
  const began = performance.now();
  const log = (line: string): void =>
    console.error(`${((performance.now() - began) / 1000).toFixed(0).padStart(4)} s  ${line}`);
  const fileLimit = await raiseFileLimit(Math.max(...sizes), log);
  log('building the hub');
  await buildHub();
  const runs: FleetFigures[] = [];
  let failed = 0;
  for (const tls of forms) {
    for (const clusters of sizes) {
      log(`— ${clusters} member clusters, ${FORM[tls]}`);
      const profileDir = process.env['ATOLL_BENCH_PROFILE'];
      const options = { clusters, tls, log, fileLimit, ...(profileDir === undefined ? {} : { profileDir }) };
      // One fleet that cannot be measured must not take the figures of the others with it.
      const figures = await runOneFleet(options).catch((error: unknown) => {
        failed += 1;
        log(`NOT MEASURED: ${String(error)}`);
      });
      if (figures !== undefined) runs.push(figures);
      await store(runs);
    }
  }
  const growth = forms.flatMap((tls) =>
    growthRows(
      runs.filter((run) => run.tls === tls),
      `growth, ${FORM[tls]}`,
    ),
  );
  if (failed > 0) log(`${failed} of the fleets could not be measured; why is said above`);
  return [...runs.flatMap(toRows), ...growth];
}

/** After each fleet, so that a run that is interrupted leaves what it has. */
async function store(runs: readonly FleetFigures[]): Promise<void> {
  await mkdir(RESULTS_FOLDER, { recursive: true });
  const machine = { cores: cpus().length, cpu: cpus()[0]?.model, memoryMib: Math.round(totalmem() / 1024 / 1024) };
  const report = { at: new Date().toISOString(), machine, rows: runs.flatMap(toRows), runs };
  await writeFile(join(RESULTS_FOLDER, 'fleet.md'), `${formatFigures(report.rows)}\n`);
  await writeFile(join(RESULTS_FOLDER, 'fleet.json'), `${JSON.stringify(report, undefined, 1)}\n`);
}
