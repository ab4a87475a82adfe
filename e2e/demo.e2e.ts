import { spawn } from 'node:child_process';
import { expect, it } from 'vitest';
import { tryCommand } from '../tools/setup/run-command.ts';

interface Summary {
  readonly ok: boolean;
  readonly totalSeconds: number;
  readonly steps: readonly { readonly name: string; readonly seconds: number }[];
  readonly redisClusters: readonly { readonly memberCluster: string; readonly replicas: number }[];
}

const hubs = async (): Promise<string[]> => {
  const { stdout } = await tryCommand(['pgrep', '-f', 'dist/apps/hub/src/main.js']);
  return stdout.trim().split('\n').filter(Boolean);
};

it('npm run demo -- --exit --json: two member clusters, a Sentinel Redis in each, a key written and read', async () => {
  const before = await hubs();
  const { stdout, stderr, exitCode } = await tryCommand(['node', 'tools/demo/main.ts', '--exit', '--json'], {
    timeoutMs: 280_000,
  });
  expect(exitCode, stderr.slice(-2000)).toBe(0);
  const summary = JSON.parse(stdout) as Summary;
  expect(summary.ok).toBe(true);
  expect(summary.redisClusters.map((each) => each.memberCluster)).toEqual(['berlin', 'boston']);
  expect(summary.redisClusters.every((each) => each.replicas === 2)).toBe(true);
  console.log(
    `demo: ${summary.totalSeconds} s: ${summary.steps.map((step) => `${step.name} ${step.seconds} s`).join('; ')}`,
  );
  expect(await hubs()).toEqual(before);
}, 300_000);

it('Ctrl-C in the middle of the demo leaves nothing running', async () => {
  const before = await hubs();
  const child = spawn('node', ['tools/demo/main.ts'], { stdio: ['ignore', 'ignore', 'pipe'] });
  let output = '';
  child.stderr.on('data', (chunk: Buffer) => {
    output += chunk.toString();
    if (output.includes('✓ hub with its own PostgreSQL')) child.kill('SIGINT');
  });
  const code = await new Promise((resolve) => child.once('exit', resolve));
  expect(code, output.slice(-2000)).toBe(0);
  expect(output).toContain('✓ hub with its own PostgreSQL');
  expect(await hubs()).toEqual(before);
  const { stdout } = await tryCommand(['pgrep', '-af', 'berlin|boston']);
  expect(stdout).toBe('');
}, 200_000);
