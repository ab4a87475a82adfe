import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { NOTES_NOTHING } from './list-failures.ts';
import type { Step } from './run-steps.ts';

const report = (name: string): string => join(tmpdir(), `atoll-${name}-${process.pid}.json`);

/** A vitest run whose JSON report is counted. */
export function vitestStep(
  name: string,
  config: string,
  options: Partial<Step> & { filters?: readonly string[] } = {},
): Step {
  const { filters = [], env, ...rest } = options;
  const resultsFile = report(name.replaceAll(' ', '-'));
  const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${resultsFile}`];
  const args = ['run', '--config', config, ...reporters, ...filters];
  return { name, command: 'vitest', args, resultsFile, env: { ...NOTES_NOTHING, ...env }, ...rest };
}

/** The e2e files of one suite (vitest.e2e.config.ts tells them apart), or every file that a filter names. */
export const e2eStep = (suite: 'short' | 'long' | 'all', filters: readonly string[] = []): Step =>
  vitestStep(suite === 'long' ? 'long e2e tests' : 'e2e tests', 'vitest.e2e.config.ts', {
    live: true,
    filters,
    ...(suite === 'all' ? {} : { env: { ATOLL_E2E_SUITE: suite } }),
  });

/** A type check that remembers what it saw last time. */
function tscStep(name: string, project: string): Step {
  const memory = `node_modules/.cache/tsc/${project.replaceAll('/', '-')}.tsbuildinfo`;
  return { name, command: 'tsc', args: ['-p', project, '--incremental', '--tsBuildInfoFile', memory] };
}

/** The one check command: what every commit must pass. The longest first, so that two workers end together. */
export const CHECK_STEPS: readonly Step[] = [
  { name: 'lint', command: 'eslint', args: ['--cache', '--cache-location', 'node_modules/.cache/eslint/', '.'] },
  tscStep('types', 'tsconfig.json'),
  vitestStep('unit tests', 'vitest.config.ts'),
  tscStep('types of the hub', 'apps/hub/tsconfig.app.json'),
  { name: 'format', command: 'prettier', args: ['--check', '--cache', '--log-level', 'warn', '.'] },
  {
    name: 'import graph',
    command: 'depcruise',
    args: ['--output-type', 'err', 'apps', 'libs', 'migrations', 'tools', 'e2e', 'bench'],
  },
  { name: 'dead code', command: 'knip', args: ['--no-progress'] },
  { name: 'simulation, 25 seeds', command: 'node', args: ['tools/simulate/main.ts', '--seed', '1', '--runs', '25'] },
  { name: 'GraphQL schema', command: 'node', args: ['tools/schema/main.ts', '--check'] },
  { name: 'CRD schema', command: 'node', args: ['tools/crd/main.ts', '--check'] },
  { name: 'paths named in docs', command: 'node', args: ['tools/check/check-docs.ts'] },
];
