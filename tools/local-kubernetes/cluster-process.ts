/*
 * The one process tree of a cluster, seen from outside. Its index is the first one whose lock file it could lock:
 * the tree itself holds the lock, so the kernel frees the index exactly when the tree has ended.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, open, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { pathExists } from '../setup/cache-folder.ts';
import { pinnedNode } from '../setup/pinned-node.ts';
import { forEachLine } from '../setup/run-command.ts';
import { HIGHEST_INDEX } from './addresses.ts';
import { clusterFolders, lockFile, STATE_FOLDER, type ClusterSpec } from './cluster-spec.ts';
import { ControlChannel } from './control-channel.ts';
import { isInUse, removeDeadCluster } from './leftovers.ts';

const LOCK_TAKEN = 75;
const LISTEN_TIMEOUT_MS = 30_000;
const END_TIMEOUT_MS = 30_000;

export interface ClusterProcess {
  spec: ClusterSpec;
  /** Ends the tree with SIGKILL and removes all it left. Nothing happens when it has ended before. */
  end(): Promise<void>;
}

/** Starts a cluster's runner at a free index; resolves when it takes calls. */
export async function startClusterProcess(wanted: Omit<ClusterSpec, 'index'>): Promise<ClusterProcess> {
  await mkdir(STATE_FOLDER, { recursive: true });
  for (let index = 1; index <= HIGHEST_INDEX; index += 1) {
    if (await isInUse(index)) continue;
    const spec = { ...wanted, index };
    const child = await startAtIndex(spec);
    if (child) return { spec, end: () => endOwnProcess(index, child) };
  }
  throw new Error(`all ${HIGHEST_INDEX} places for local clusters are in use; see ${STATE_FOLDER}`);
}

async function startAtIndex(spec: ClusterSpec): Promise<ChildProcess | undefined> {
  const runner = new URL('./runner.ts', import.meta.url).pathname;
  const logPath = join(STATE_FOLDER, `${spec.index}.log`);
  const log = await open(logPath, 'w');
  const child = spawn(
    'flock',
    [
      ...['-n', '-E', String(LOCK_TAKEN), '--no-fork', lockFile(spec.index)],
      ...['unshare', '--pid', '--mount-proc', '--fork', '--kill-child', '--'],
      ...[pinnedNode(), runner, JSON.stringify(spec)],
    ],
    // A session of its own: the terminal's Ctrl-C is for whoever started the cluster, who then stops it in order.
    { stdio: [spec.detached ? 'ignore' : 'pipe', 'pipe', log.fd], detached: true, env: runnerEnvironment() },
  );
  await log.close();
  const outcome = await firstOutcome(child);
  child.unref();
  (child.stdin as { unref?: () => void } | null)?.unref?.();
  (child.stdout as { unref?: () => void } | null)?.unref?.();
  if (outcome === 'listening') return child;
  if (outcome === LOCK_TAKEN) return undefined;
  child.kill('SIGKILL');
  const tail = (await readFile(logPath, 'utf8')).split('\n').slice(-15).join('\n');
  throw new Error(`the runner of cluster ${spec.name} did not start (${outcome}):\n${tail}`);
}

async function firstOutcome(child: ChildProcess): Promise<'listening' | 'too late' | number> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => resolve('too late'), LISTEN_TIMEOUT_MS);
    const done = (outcome: 'listening' | number) => {
      clearTimeout(timer);
      resolve(outcome);
    };
    if (child.stdout) forEachLine(child.stdout, (line) => line === 'listening' && done('listening'));
    child.once('exit', (code) => done(code ?? 1));
    child.once('error', reject);
  });
}

function runnerEnvironment(): NodeJS.ProcessEnv {
  const { PATH = '', HOME = '/root', XDG_CACHE_HOME = '', NODE_OPTIONS = '' } = process.env;
  const options = /--disable-warning=\S+/.exec(NODE_OPTIONS)?.[0] ?? '';
  return { PATH: `${PATH}:/usr/sbin:/sbin`, HOME, XDG_CACHE_HOME, LANG: 'C.UTF-8', NODE_OPTIONS: options };
}

/** The runner is killed, not the process that waits for it: that one ends, and frees the lock, after the whole tree. */
async function endOwnProcess(index: number, child: ChildProcess): Promise<void> {
  if (child.exitCode === null && child.signalCode === null && child.pid !== undefined) {
    const ended = once(child, 'exit', { signal: AbortSignal.timeout(END_TIMEOUT_MS) });
    child.ref();
    const children = await readFile(`/proc/${child.pid}/task/${child.pid}/children`, 'utf8').catch(() => '');
    killQuietly(Number(children.trim().split(' ')[0]) || child.pid);
    await ended;
  }
  await removeDeadCluster(index);
}

/** Ends a cluster that another process started, by a call to its runner, and removes all it left. */
export async function endForeignCluster(spec: ClusterSpec): Promise<void> {
  const channel = await ControlChannel.open(spec.name, clusterFolders(spec.index).controlSocket, () => {});
  await channel.call({ call: 'exit' }, END_TIMEOUT_MS);
  const deadline = performance.now() + END_TIMEOUT_MS;
  while (await isInUse(spec.index)) {
    if (performance.now() > deadline) throw new Error(`the cluster ${spec.name} does not end`);
    await sleep(100);
  }
  await removeDeadCluster(spec.index);
}

function killQuietly(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

/** The clusters that run on this machine, of whichever run. */
export async function runningClusters(): Promise<ClusterSpec[]> {
  const specs: ClusterSpec[] = [];
  for (let index = 1; index <= HIGHEST_INDEX; index += 1) {
    const { specFile, controlSocket } = clusterFolders(index);
    if (!(await pathExists(controlSocket)) || !(await isInUse(index))) continue;
    specs.push(JSON.parse(await readFile(specFile, 'utf8')) as ClusterSpec);
  }
  return specs;
}
