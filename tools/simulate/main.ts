/**
 * `npm run simulate -- --seed N --runs M [--verbose] [--json]`: M lives of a data set from seed N on, each checked after
 * every step. A failing seed prints what happened and the command that repeats it; the last line is `N passed, N failed`.
 */
import { parseArgs } from 'node:util';
import { DEFAULT_PLANNER_POLICY, planRedisCluster } from '#planner';
import { playSeed } from '#testing';
import type { SeedResult } from '#testing';

const STORY_LINES = 60;

const readArguments = (): { seed: number; runs: number; verbose: boolean; json: boolean } => {
  const { values } = parseArgs({
    options: {
      seed: { type: 'string', default: '1' },
      runs: { type: 'string', default: '25' },
      verbose: { type: 'boolean', default: false },
      json: { type: 'boolean', default: false },
    },
  });
  const seed = Number(values.seed);
  const runs = Number(values.runs);
  if (!Number.isSafeInteger(seed) || !Number.isSafeInteger(runs) || seed < 0 || runs < 1) {
    console.error('Usage: npm run simulate -- --seed N --runs M [--verbose] [--json], with whole numbers.');
    process.exit(2);
  }
  return { seed, runs, verbose: values.verbose, json: values.json };
};

const tellFailure = (result: SeedResult): void => {
  console.log(`seed ${result.seed} failed:`);
  for (const violation of result.violations) console.log(`  ${violation}`);
  for (const line of result.log.slice(-STORY_LINES)) console.log(`    ${line}`);
  console.log(`  repeat it: npm run simulate -- --seed ${result.seed} --runs 1 --verbose`);
};

const tell = (result: SeedResult, verbose: boolean): void => {
  if (verbose) for (const line of result.log) console.log(line);
  if (result.violations.length > 0) return tellFailure(result);
  if (!verbose) return;
  const { seed, acknowledged, excused, restMs } = result;
  console.log(
    `seed ${seed}: ${acknowledged} writes kept, ${excused} lost as declared, at rest after ${restMs / 1_000} s`,
  );
};

const main = (): void => {
  const { seed, runs, verbose, json } = readArguments();
  const results: SeedResult[] = [];
  for (let index = 0; index < runs; index += 1) {
    const result = playSeed(seed + index, (snapshot, nowMs) =>
      planRedisCluster({ snapshot, nowMs, policy: DEFAULT_PLANNER_POLICY }),
    );
    results.push(result);
    if (!json) tell(result, verbose);
  }
  const failed = results.filter((result) => result.violations.length > 0).length;
  if (json) {
    const rows = results.map(({ log: _, ...row }) => row);
    console.log(JSON.stringify(rows));
  }
  const asked = results.filter((result) => result.asked.length > 0).length;
  if (!json && asked > 0) console.log(`${asked} of ${runs} asked a person before they came to rest`);
  console.log(`${runs - failed} passed, ${failed} failed`);
  process.exitCode = failed > 0 ? 1 : 0;
};

main();
