/**
 * `npm run bench -- fleet --clusters N[,N…]`: one hub, one PostgreSQL and a simulated fleet of N member clusters with ten
 * RedisClusters each, all on this machine, over real TLS. Twice: TLS in the hub, and TLS ended in front by HAProxy.
 */
import { buildHub } from '../../tools/build/build-all.ts';
import type { BenchRow } from '../bench-row.ts';
import { parseFleetOptions } from './fleet-options.ts';
import { toRows } from './fleet-rows.ts';
import { runOneFleet, type FleetFigures } from './fleet-run.ts';
import { raiseFileLimit } from './raise-file-limit.ts';
import { FORM_NAME, growthOf, storeFigures } from './store-figures.ts';

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
      log(`— ${clusters} member clusters, ${FORM_NAME[tls]}`);
      const profileDir = process.env['ATOLL_BENCH_PROFILE'];
      const options = { clusters, tls, log, fileLimit, ...(profileDir === undefined ? {} : { profileDir }) };
      // One fleet that cannot be measured must not take the figures of the others with it.
      const figures = await runOneFleet(options).catch((error: unknown) => {
        failed += 1;
        log(`NOT MEASURED: ${String(error)}`);
      });
      if (figures === undefined) continue;
      runs.push(figures);
      await storeFigures(figures);
    }
  }
  const growth = forms.flatMap((tls) => growthOf(runs, tls));
  if (failed > 0) {
    log(`${failed} of the fleets could not be measured; why is said above`);
    process.exitCode = 1;
  }
  return [...runs.flatMap(toRows), ...growth];
}
