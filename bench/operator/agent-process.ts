import { spawn, type ChildProcess } from 'node:child_process';
import { openSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { AGENT_BUNDLE } from '../../tools/build/build-agent.ts';
import { AGENT_NODE_FLAGS } from '../../tools/local-kubernetes/index.ts';

const START_TIMEOUT_MS = 30_000;
const TICKS_PER_SECOND = 100;

/** The bundled agent as a process of its own on this machine, and what the kernel says of it. */
export class AgentProcess {
  readonly #child: ChildProcess;
  readonly #port: number;
  readonly #startedAt = performance.now();

  constructor(kubeconfig: string, port: number, logFile: string, environment: Readonly<Record<string, string>> = {}) {
    const log = openSync(logFile, 'a');
    this.#port = port;
    this.#child = spawn(process.execPath, [...AGENT_NODE_FLAGS, AGENT_BUNDLE], {
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

  /** Milliseconds from the start of the process until it says it is ready. */
  async ready(): Promise<number> {
    for (;;) {
      const answer = await fetch(`http://127.0.0.1:${this.#port}/readyz`).catch(() => undefined);
      if (answer?.ok === true) return performance.now() - this.#startedAt;
      if (performance.now() - this.#startedAt > START_TIMEOUT_MS) throw new Error('the agent did not become ready');
      await sleep(10);
    }
  }

  get rssMib(): number {
    return Number(/VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${this.pid}/status`, 'utf8'))?.[1] ?? 0) / 1024;
  }

  /** Share of one core over the next `ms`, in percent, and the largest and mean memory meanwhile. */
  async watch(ms: number): Promise<{ cpuPercent: number; rssMib: number }> {
    const before = this.#cpuSeconds();
    const startedAt = performance.now();
    const rss: number[] = [];
    while (performance.now() - startedAt < ms) {
      rss.push(this.rssMib);
      await sleep(250);
    }
    const seconds = (performance.now() - startedAt) / 1_000;
    const cpuPercent = ((this.#cpuSeconds() - before) / seconds) * 100;
    return { cpuPercent, rssMib: Math.max(...rss) };
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

  #cpuSeconds(): number {
    const fields = readFileSync(`/proc/${this.pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
    return (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND;
  }
}
