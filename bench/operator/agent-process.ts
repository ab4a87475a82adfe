import { spawn, type ChildProcess } from 'node:child_process';
import { openSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { AGENT_NODE_FLAGS } from '../../tools/build/agent-node-flags.ts';
import { AGENT_START } from '../../tools/build/build-agent.ts';

const START_TIMEOUT_MS = 60_000;
const TICKS_PER_SECOND = 100;
const FIRST_LOOK = 'every RedisCluster was looked at since the start';

/** What the kernel counts as resident. */
export interface AgentMemory {
  readonly rssMib: number;
  /** Its own: heap, stacks, what it wrote to. */
  readonly anonMib: number;
  /** Pages of files, almost all of Node's own program: shared by every process of that file, and given back under pressure. */
  readonly fileMib: number;
}

/** The bundled agent as a process of its own on this machine, and what the kernel says of it. */
export class AgentProcess {
  readonly #child: ChildProcess;
  readonly #port: number;
  readonly #logFile: string;
  readonly #startedAt = performance.now();

  /** `logFile` is emptied. */
  constructor(kubeconfig: string, port: number, logFile: string, environment: Readonly<Record<string, string>> = {}) {
    const log = openSync(logFile, 'w');
    this.#port = port;
    this.#logFile = logFile;
    this.#child = spawn(process.execPath, [...AGENT_NODE_FLAGS, AGENT_START], {
      stdio: ['ignore', log, log],
      env: {
        PATH: process.env['PATH'],
        MALLOC_ARENA_MAX: '1', // as the chart sets it
        KUBECONFIG: kubeconfig,
        ATOLL_NAMESPACE: 'atoll-system',
        ATOLL_POD_NAME: 'bench-agent',
        ATOLL_HEALTH_PORT: String(port),
        ...environment,
      },
    });
  }

  /**
   * Milliseconds from the start of the process until it says it is ready: it leads, its picture of Kubernetes is complete, and
   * it acts.
   */
  async ready(): Promise<number> {
    await this.#until('did not become ready', async () => {
      const answer = await fetch(`http://127.0.0.1:${this.#port}/readyz`).catch(() => undefined);
      return answer?.ok === true;
    });
    return performance.now() - this.#startedAt;
  }

  /** Milliseconds from the start of the process until it had looked at every RedisCluster, as its log tells. */
  async lookedAtAll(): Promise<number> {
    let afterMs: number | undefined;
    await this.#until('did not look at every RedisCluster', () => {
      const line = readFileSync(this.#logFile, 'utf8')
        .split('\n')
        .find((each) => each.includes(FIRST_LOOK));
      afterMs = line === undefined ? undefined : (JSON.parse(line) as { afterMs: number }).afterMs;
      return afterMs !== undefined;
    });
    return afterMs ?? 0;
  }

  get memory(): AgentMemory {
    const status = readFileSync(`/proc/${this.pid}/status`, 'utf8');
    const mib = (name: string): number => Number(new RegExp(`${name}:\\s+(\\d+) kB`).exec(status)?.[1] ?? 0) / 1024;
    return { rssMib: mib('VmRSS'), anonMib: mib('RssAnon'), fileMib: mib('RssFile') };
  }

  /** Share of one core over the next `ms`, in percent, and the memory when it was largest. */
  async watch(ms: number): Promise<AgentMemory & { readonly cpuPercent: number }> {
    const before = this.#cpuSeconds();
    const startedAt = performance.now();
    let most = this.memory;
    while (performance.now() - startedAt < ms) {
      await sleep(250);
      const { memory } = this;
      if (memory.rssMib > most.rssMib) most = memory;
    }
    const seconds = (performance.now() - startedAt) / 1_000;
    return { ...most, cpuPercent: ((this.#cpuSeconds() - before) / seconds) * 100 };
  }

  async stop(): Promise<void> {
    const ended = new Promise((resolve) => this.#child.once('exit', resolve));
    this.#child.kill('SIGTERM');
    await ended;
  }

  get pid(): number {
    if (this.#child.pid === undefined) throw new Error('the agent did not start');
    return this.#child.pid;
  }

  async #until(otherwise: string, holds: () => boolean | Promise<boolean>): Promise<void> {
    while (!(await holds())) {
      if (performance.now() - this.#startedAt > START_TIMEOUT_MS) throw new Error(`the agent ${otherwise}`);
      await sleep(10);
    }
  }

  #cpuSeconds(): number {
    const fields = readFileSync(`/proc/${this.pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
    return (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND;
  }
}
