// `npm run e2e -- [PATTERN | --long]`: the e2e files whose path contains PATTERN, those of the long suite, or all of them.
import { formatCountLine, runSteps } from '../check/run-steps.ts';
import { e2eStep } from '../check/steps.ts';
import { prepareTests } from './prepare-tests.ts';

await prepareTests();
const filters = process.argv.slice(2);
const isLong = filters[0] === '--long';
const counts = await runSteps([isLong ? e2eStep('long') : e2eStep('all', filters)], 1);
console.log(formatCountLine(counts));
process.exitCode = counts.failed > 0 ? 1 : 0;
