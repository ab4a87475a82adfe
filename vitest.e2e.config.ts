import { defineConfig } from 'vitest/config';

// Whole lives of versions, of agents and of outages, minutes each: `.ci/run` runs them after `npm test`, which has to end
// within twenty minutes. ATOLL_E2E_SUITE=short leaves them out, =long runs them alone; without it every file runs.
const LONG = [
  'shape',
  'polling-budget',
  'agent-upgrade',
  'crd-skew',
  'upgrade-engine',
  'api-server-outage',
  'local-kubernetes',
  'scopes',
  'mesh',
].map((name) => `e2e/${name}.e2e.ts`);
const suite = process.env['ATOLL_E2E_SUITE'];

// One process runs all files in turn, so that they share one start of the clusters (e2e/fleet.ts).
export default defineConfig({
  test: {
    include: suite === 'long' ? LONG : ['e2e/**/*.e2e.ts'],
    exclude: suite === 'short' ? LONG : [],
    environment: 'node',
    pool: 'forks',
    maxWorkers: 1,
    isolate: false,
    fileParallelism: false,
    testTimeout: 180_000,
    hookTimeout: 300_000,
    bail: 0,
  },
});
