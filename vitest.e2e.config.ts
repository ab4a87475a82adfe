import { defineConfig } from 'vitest/config';

// One process runs all files in turn, so that they share one start of the clusters (e2e/fleet.ts).
export default defineConfig({
  test: {
    include: ['e2e/**/*.e2e.ts'],
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
