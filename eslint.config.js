// The size limits of docs/architecture.md are errors from the first commit, so that they never have to be retrofitted.
import tseslint from 'typescript-eslint';
import { noInheritedLookup } from './tools/lint/no-inherited-lookup.js';

const sizes = (file, fn) => ({
  'max-lines': ['error', { max: file, skipBlankLines: false, skipComments: false }],
  'max-lines-per-function': ['error', { max: fn, skipBlankLines: true, skipComments: true }],
});

export default tseslint.config(
  { ignores: ['node_modules/', 'dist/', '.atoll/', 'coverage/', '**/*.js', '**/*.cjs', '**/*.mjs'] },
  {
    files: ['**/*.ts', '**/*.tsx'],
    extends: [tseslint.configs.base],
    languageOptions: { parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname } },
    linterOptions: { reportUnusedDisableDirectives: 'error' },
    rules: {
      ...sizes(300, 60),
      complexity: ['error', 10],
      'max-depth': ['error', 3],
      'max-params': ['error', 4],
      eqeqeq: 'error',
      'no-console': 'error',
      '@typescript-eslint/no-explicit-any': 'error',
      '@typescript-eslint/no-floating-promises': 'error', // a lost rejection is a lost error
      '@typescript-eslint/no-misused-promises': ['error', { checksVoidReturn: { arguments: false } }],
      '@typescript-eslint/await-thenable': 'error',
      '@typescript-eslint/switch-exhaustiveness-check': ['error', { considerDefaultExhaustiveForUnions: true }],
      '@typescript-eslint/consistent-type-imports': 'error',
      '@typescript-eslint/explicit-module-boundary-types': 'error',
      '@typescript-eslint/no-unnecessary-type-assertion': 'error',
      '@typescript-eslint/only-throw-error': 'error',
      '@typescript-eslint/prefer-readonly': 'error',
      'no-restricted-syntax': [
        'error',
        { selector: 'ExportDefaultDeclaration', message: 'Named exports only; configuration files are exempt below.' },
      ],
    },
  },
  {
    // Nest injects by constructor; parameters are dependencies there. Decorator metadata needs value imports.
    files: ['apps/hub/**/*.ts', 'migrations/**/*.ts'],
    languageOptions: { parserOptions: { emitDecoratorMetadata: true, experimentalDecorators: true } },
    rules: { 'max-params': ['error', 6] },
  },
  {
    files: ['apps/agent/src/platform/**', 'apps/hub/src/platform/**', 'tools/**', 'bench/**', 'e2e/**', 'apps/cli/**'],
    rules: { 'no-console': 'off' },
  },
  {
    files: ['**/*.spec.ts', '**/*.e2e.ts', '**/*.contract.ts'],
    rules: { ...sizes(600, 600), '@typescript-eslint/explicit-module-boundary-types': 'off' },
  },
  { files: ['libs/testing/**/*.ts', 'e2e/**/*.ts'], rules: { 'max-lines': ['error', { max: 400 }] } },
  { files: ['**/*.spec.ts', '**/*.e2e.ts'], rules: { 'max-lines': ['error', { max: 600 }] } },
  {
    // Determinism is an import rule: what cannot import the clock cannot misuse it.
    files: ['libs/planner/**/*.ts', 'libs/manifests/**/*.ts', 'libs/domain/**/*.ts'],
    ignores: ['**/*.spec.ts'],
    rules: {
      'no-restricted-globals': ['error', 'setTimeout', 'setInterval', 'setImmediate', 'process', 'fetch'],
      'no-restricted-properties': [
        'error',
        { object: 'Math', property: 'random', message: 'Randomness is passed in.' },
        { object: 'Date', property: 'now', message: 'Time is passed in.' },
      ],
      'no-restricted-syntax': [
        'error',
        { selector: 'NewExpression[callee.name="Date"][arguments.length=0]', message: 'Time is passed in.' },
        { selector: 'ExportDefaultDeclaration', message: 'Named exports only.' },
      ],
    },
  },
  {
    // What runs beside foreign names: specs, configuration, answers of servers.
    files: ['apps/*/src/**/*.ts', 'libs/*/src/**/*.ts'],
    ignores: ['**/*.spec.ts', 'libs/testing/**'],
    plugins: { atoll: { rules: { 'no-inherited-lookup': noInheritedLookup } } },
    rules: { 'atoll/no-inherited-lookup': 'error' },
  },
  { files: ['*.config.ts', '**/*.config.ts'], rules: { 'no-restricted-syntax': 'off' } },
);
