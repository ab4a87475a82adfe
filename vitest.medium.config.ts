import { createRequire } from 'node:module';
import { defineConfig } from 'vitest/config';

// Real PostgreSQL, real migrations, agents over WebSocket: one server per run (apps/hub/test/postgres-for-run.config.ts), one
// database per file.
export default defineConfig({
  oxc: { decorator: { legacy: true, emitDecoratorMetadata: true } },
  // Vite would take the ESM build of graphql, Nest takes the CommonJS one, and each calls the other's types foreign.
  resolve: { alias: [{ find: /^graphql$/, replacement: createRequire(import.meta.url).resolve('graphql') }] },
  test: {
    include: ['apps/**/*.medium.spec.ts'],
    environment: 'node',
    setupFiles: ['tools/test/seed-properties.ts'],
    pool: 'forks',
    maxWorkers: 2,
    globalSetup: ['apps/hub/test/postgres-for-run.config.ts'],
    testTimeout: 30_000,
    hookTimeout: 60_000,
    passWithNoTests: false,
  },
});
