import { spawn } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { ensureEngineImage, ensureKubernetesBinary, LocalKubernetes } from '../tools/local-kubernetes/index.ts';
import { endDetachedClusters } from '../tools/local-kubernetes/local-kubernetes.ts';
import { runCommand, tryCommand } from '../tools/setup/run-command.ts';
import { waitFor } from './member.ts';

interface Summary {
  readonly ok: boolean;
  readonly totalSeconds: number;
  readonly steps: readonly { readonly name: string; readonly seconds: number }[];
  readonly redisClusters: readonly { readonly memberCluster: string; readonly replicas: number }[];
}

/** A folder of this run alone: hub, PostgreSQL and clusters of the demo carry its name in arguments or environment. */
const runFolder = (): string => mkdtempSync(join(tmpdir(), 'atoll-e2e-demo-'));
const environmentOf = (folder: string): NodeJS.ProcessEnv => ({ ...process.env, TMPDIR: folder });

/** The command line of a process of the run, if it is one and lives. */
function commandOf(pid: string, folder: string): string | undefined {
  try {
    const [command = '', environment = ''] = ['cmdline', 'environ'].map((file) =>
      readFileSync(`/proc/${pid}/${file}`, 'utf8'),
    );
    return `${command}${environment}`.includes(folder) ? command.replaceAll('\0', ' ') : undefined;
  } catch {
    return undefined; // it ended meanwhile
  }
}

/** What of the run is still alive, by command line. */
const survivors = (folder: string): string[] =>
  readdirSync('/proc').flatMap((pid) => (/^\d+$/.test(pid) ? (commandOf(pid, folder) ?? []) : []));

/** Names them when they do not end. */
const waitForNoSurvivor = (folder: string, timeoutMs: number): Promise<void> => {
  let left: string[] = [];
  const none = async (): Promise<boolean> => (left = survivors(folder)).length === 0;
  return waitFor('nothing of it to run', none, timeoutMs).then(
    () => undefined,
    (error: unknown) => {
      throw new Error(`still running: ${left.join('; ')}`, { cause: error });
    },
  );
};

it('npm run demo -- --exit --json: two member clusters, a Sentinel Redis in each, a key written and read', async () => {
  const folder = runFolder();
  const options = { timeoutMs: 280_000, env: environmentOf(folder) };
  const { stdout, stderr, exitCode } = await tryCommand(['node', 'tools/demo/main.ts', '--exit', '--json'], options);
  expect(exitCode, stderr.slice(-2000)).toBe(0);
  const summary = JSON.parse(stdout) as Summary;
  expect(summary.ok).toBe(true);
  expect(summary.redisClusters.map((each) => each.memberCluster)).toEqual(['berlin', 'boston']);
  expect(summary.redisClusters.every((each) => each.replicas === 2)).toBe(true);
  const steps = summary.steps.map((step) => `${step.name} ${step.seconds} s`);
  console.log(`demo: ${summary.totalSeconds} s: ${steps.join('; ')}`);
  await waitForNoSurvivor(folder, 5_000);
  expect(readdirSync(folder)).toEqual([]);
  rmdirSync(folder);
}, 300_000);

describe('on clusters that exist', () => {
  const names = ['kiel', 'oslo'];
  afterAll(() => endDetachedClusters(names));

  it('installs the agent as a user would, and leaves the clusters as they are', async () => {
    const engine = await ensureEngineImage('redis:8.0');
    const clusters = names.map((name) => ({ name, nodes: 1 }));
    const images = 'path' in engine ? [engine.path] : [];
    const kubernetes = await LocalKubernetes.start({ clusters, images, detached: true });
    const { path: binary } = await ensureKubernetesBinary();
    const env = { ...process.env, KUBECONFIG: kubernetes.clusters.map((each) => each.kubeconfigPath).join(':') };
    const merged = await runCommand([binary, 'kubectl', 'config', 'view', '--flatten'], { env });
    const kubeconfig = join(runFolder(), 'kubeconfig');
    writeFileSync(kubeconfig, merged, { mode: 0o600 });

    const contexts = names.flatMap((name) => ['--context', name]);
    const argv = ['node', 'tools/demo/main.ts', '--kubeconfig', kubeconfig, ...contexts, '--exit', '--json'];
    const { stdout, stderr, exitCode } = await tryCommand(argv, { timeoutMs: 200_000 });
    expect(exitCode, stderr.slice(-2000)).toBe(0);
    const summary = JSON.parse(stdout) as Summary;
    expect(summary.redisClusters.map((each) => each.memberCluster)).toEqual(names);
    for (const cluster of kubernetes.clusters) {
      const { stdout: agents } = await cluster.kubectl(['get', 'deployment', '-n', 'atoll-system', '-o', 'name']);
      expect(agents.trim()).toBe('deployment.apps/atoll-agent');
    }
  }, 300_000);
});

it.each(['SIGINT', 'SIGKILL'] as const)(
  '%s in the middle of the demo leaves nothing running',
  async (signal) => {
    const folder = runFolder();
    const options = { stdio: ['ignore', 'ignore', 'pipe'] as ['ignore', 'ignore', 'pipe'], env: environmentOf(folder) };
    const child = spawn('node', ['tools/demo/main.ts'], options);
    let output = '';
    let running: string[] | undefined;
    child.stderr.on('data', (chunk: Buffer) => {
      output += chunk.toString();
      if (running !== undefined || !output.includes('✓ hub with its own PostgreSQL')) return;
      running = survivors(folder);
      child.kill(signal);
    });
    const [code, by] = await new Promise<unknown[]>((resolve) => child.once('close', (...result) => resolve(result)));
    expect([code, by], output.slice(-2000)).toEqual(signal === 'SIGINT' ? [0, null] : [null, 'SIGKILL']);
    expect(running?.length).toBeGreaterThan(1);
    await waitForNoSurvivor(folder, 15_000);
  },
  200_000,
);
