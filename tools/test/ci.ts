// What CI runs: `npm test`, then the short seeded part of the simulation. Its last line adds all up.
import { formatCountLine, runSteps } from '../check/run-steps.ts';

const counts = await runSteps(
  [
    { name: 'npm test', command: 'node', args: ['tools/test/main.ts'], live: true },
    {
      name: 'simulation, 200 seeds',
      command: 'node',
      args: ['tools/simulate/main.ts', '--seed', '1000', '--runs', '200'],
    },
  ],
  1,
);
console.log(formatCountLine(counts));
process.exitCode = counts.failed > 0 ? 1 : 0;
