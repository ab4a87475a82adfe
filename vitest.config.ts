import { createRequire } from 'node:module';
import { defineConfig } from 'vitest/config';

export default defineConfig({
  // Vite would take the ESM build of graphql, graphql-jit takes the CommonJS one, and each calls the other's types foreign.
  resolve: { alias: [{ find: /^graphql$/, replacement: createRequire(import.meta.url).resolve('graphql') }] },
  test: {
    include: ['apps/**/*.spec.ts', 'libs/**/*.spec.ts', 'tools/**/*.spec.ts', 'bench/**/*.spec.ts'],
    exclude: ['**/node_modules/**', '**/dist/**', '**/*.medium.spec.ts'],
    environment: 'node',
    setupFiles: ['tools/test/seed-properties.ts'],
    passWithNoTests: false,
    // Most of the time of the slow files is waiting, not work; files share workers, since starting one costs more than most files.
    pool: 'threads',
    isolate: false,
    maxWorkers: 4,
    // Limits for a machine that is busy with something else; on an idle one nothing comes near them.
    testTimeout: 20_000,
    expect: { poll: { timeout: 10_000 } },
  },
});
