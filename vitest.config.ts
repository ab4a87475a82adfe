import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['apps/**/*.spec.ts', 'libs/**/*.spec.ts', 'tools/**/*.spec.ts', 'bench/**/*.spec.ts'],
    exclude: ['**/node_modules/**', '**/dist/**', '**/*.medium.spec.ts'],
    environment: 'node',
    passWithNoTests: false,
  },
});
