// `npm run check`: format, lint, types, import graph, dead code, unit tests, 25 seeds of the simulation, drift of generated files.
import { listFailures } from './list-failures.ts';
import { formatCountLine, runSteps } from './run-steps.ts';
import { CHECK_STEPS } from './steps.ts';

const counts = await listFailures(() => runSteps(CHECK_STEPS, 2));
console.log(formatCountLine(counts));
process.exitCode = counts.failed > 0 ? 1 : 0;
