// What CI runs: `npm test`, the long e2e files, then the short seeded parts of the simulation and of chaos. Its last line adds all up.
import { listFailures } from '../check/list-failures.ts';
import { formatCountLine, runSteps, type Step } from '../check/run-steps.ts';

const STEPS: readonly Step[] = [
  { name: 'npm test', command: 'node', args: ['tools/test/main.ts'], live: true },
  { name: 'long e2e tests', command: 'node', args: ['tools/test/e2e.ts', '--long'], live: true },
  {
    name: 'simulation, 500 seeds',
    command: 'node',
    args: ['tools/simulate/main.ts', '--seed', '1000', '--runs', '500'],
  },
  {
    name: 'chaos, 3 minutes',
    command: 'node',
    args: ['tools/chaos/main.ts', '--seed', '1', '--minutes', '3'],
    live: true,
  },
];

const counts = await listFailures(() => runSteps(STEPS, 1));
console.log(formatCountLine(counts));
process.exitCode = counts.failed > 0 ? 1 : 0;
