import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { SimulatorCommand, SimulatorEvent, SimulatorReport, SimulatorSettings } from './simulator/messages.ts';

type Applied = Extract<SimulatorEvent, { is: 'applied' }>;

/** The simulator as its own process. It ends with this one, since its channel does. */
export class SimulatorProcess {
  readonly #child: ChildProcess;
  readonly #applied = new Map<string, (event: Applied) => void>();

  private constructor(child: ChildProcess) {
    this.#child = child;
    child.on('message', (event: SimulatorEvent) => {
      if (event.is === 'applied') this.#applied.get(`${event.hubUid} ${event.hubGeneration}`)?.(event);
    });
  }

  static async start(settings: SimulatorSettings): Promise<SimulatorProcess> {
    const child = spawn(process.execPath, [join(import.meta.dirname, 'simulator/main.ts')], {
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    });
    const simulator = new SimulatorProcess(child);
    const ready = simulator.#next('ready', 60_000);
    child.send({ settings });
    await ready;
    return simulator;
  }

  get pid(): number {
    if (this.#child.pid === undefined) throw new Error('the simulator did not start');
    return this.#child.pid;
  }

  tell(command: SimulatorCommand): void {
    this.#child.send(command);
  }

  async report(): Promise<SimulatorReport> {
    const answer = this.#next('report', 60_000);
    this.tell({ do: 'report' });
    return (await answer).report;
  }

  /** Polls until it holds. Throws with the last report when it does not in time. */
  async until(what: string, holds: (report: SimulatorReport) => boolean, timeoutMs: number): Promise<SimulatorReport> {
    const deadline = performance.now() + timeoutMs;
    for (;;) {
      const report = await this.report();
      if (holds(report)) return report;
      if (performance.now() > deadline) {
        const { statusLatenciesMs: _samples, ...rest } = report;
        throw new Error(`not ${what} within ${timeoutMs / 1000} s: ${JSON.stringify(rest)}`);
      }
      await sleep(100);
    }
  }

  /** Monotonic ms of the agent's ack of this version. Ask before the change is made. */
  applied(hubUid: string, hubGeneration: number, timeoutMs = 30_000): Promise<number> {
    const key = `${hubUid} ${hubGeneration}`;
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => reject(new Error(`${key} was not applied within ${timeoutMs} ms`)), timeoutMs);
      this.#applied.set(key, ({ atMs }) => {
        clearTimeout(timer);
        this.#applied.delete(key);
        resolve(atMs);
      });
    });
  }

  async stop(): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    const ended = once(this.#child, 'exit');
    this.#child.kill('SIGKILL');
    await ended;
  }

  #next<T extends SimulatorEvent['is']>(is: T, timeoutMs: number): Promise<Extract<SimulatorEvent, { is: T }>> {
    return new Promise((resolve, reject) => {
      const done = (): void => {
        clearTimeout(timer);
        this.#child.off('message', look);
        this.#child.off('exit', gone);
      };
      const look = (event: SimulatorEvent): void => {
        if (event.is !== is) return;
        done();
        resolve(event as Extract<SimulatorEvent, { is: T }>);
      };
      const gone = (): void => {
        done();
        reject(new Error('the simulator has ended'));
      };
      const timer = setTimeout(() => {
        done();
        reject(new Error(`the simulator does not answer with ${is}`));
      }, timeoutMs);
      this.#child.on('message', look);
      this.#child.on('exit', gone);
    });
  }
}
