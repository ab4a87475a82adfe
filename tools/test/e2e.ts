// `npm run e2e -- [PATTERN]`: the e2e files whose path contains PATTERN, or all of them.
import { formatCountLine, runSteps } from '../check/run-steps.ts';
import { vitestStep } from '../check/steps.ts';
import { prepareTests } from './prepare-tests.ts';

await prepareTests();
const counts = await runSteps(
  [vitestStep('e2e tests', 'vitest.e2e.config.ts', { live: true, filters: process.argv.slice(2) })],
  1,
);
console.log(formatCountLine(counts));
process.exitCode = counts.failed > 0 ? 1 : 0;
