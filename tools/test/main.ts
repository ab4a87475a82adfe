// `npm test`: everything that must pass, from a fresh clone: set-up, the check, the medium ring on a real PostgreSQL, e2e on real clusters.
import { listFailures } from '../check/list-failures.ts';
import { formatCountLine, addCounts, runSteps } from '../check/run-steps.ts';
import { CHECK_STEPS, e2eStep, vitestStep } from '../check/steps.ts';
import { prepareTests } from './prepare-tests.ts';

await prepareTests();
const counts = await listFailures(async () => {
  console.log('\n# check');
  const check = await runSteps(CHECK_STEPS, 2);
  console.log('\n# medium: real PostgreSQL, GraphQL over HTTP, agents over WebSocket');
  const medium = await runSteps([vitestStep('medium tests', 'vitest.medium.config.ts', { live: true })], 1);
  console.log('\n# e2e: real Kubernetes, real Redis, real PostgreSQL');
  const e2e = await runSteps([e2eStep('short')], 1);
  return addCounts([check, medium, e2e]);
});
console.log(formatCountLine(counts));
process.exitCode = counts.failed > 0 ? 1 : 0;
