import { spawn, type ChildProcess } from 'node:child_process';
import { open, readFile } from 'node:fs/promises';

const RESTART_DELAY_MS = 1_000;
const TAIL_LINES = 20;

export interface PartOptions {
  name: string;
  /** Asked at each start: a node's parts enter namespaces that are others after it died. */
  argv: () => readonly string[];
  logPath: string;
}

/**
 * One long-running process of a cluster, with a log file of its own. As a service manager would, it starts the
 * process again when it ended by itself; what somebody killed or stopped on purpose stays down until started.
 */
export class Part {
  readonly name: string;
  readonly #argv: () => readonly string[];
  readonly #logPath: string;
  #child: ChildProcess | undefined;
  #wanted = false;
  #exits = 0;

  constructor(options: PartOptions) {
    this.name = options.name;
    this.#argv = options.argv;
    this.#logPath = options.logPath;
  }

  /** How often the process ended although it was wanted. */
  get exits(): number {
    return this.#exits;
  }

  get running(): boolean {
    return this.#child !== undefined;
  }

  async start(): Promise<void> {
    this.#wanted = true;
    if (this.#child) return;
    const [file = '', ...args] = this.#argv();
    const log = await open(this.#logPath, 'a');
    const child = spawn(file, args, { stdio: ['ignore', log.fd, log.fd] });
    this.#child = child;
    child.on('error', () => this.#ended());
    child.on('exit', () => this.#ended());
    await log.close();
  }

  #ended(): void {
    this.#child = undefined;
    if (!this.#wanted) return;
    this.#exits += 1;
    setTimeout(() => {
      if (this.#wanted) void this.start();
    }, RESTART_DELAY_MS);
  }

  /** Ends the process at once (SIGKILL) and keeps it down. */
  async kill(): Promise<void> {
    this.#wanted = false;
    const child = this.#child;
    if (!child) return;
    const ended = new Promise((resolve) => child.once('exit', resolve));
    child.kill('SIGKILL');
    await ended;
  }

  /** Keeps the process down from its next end on, without ending it: its node is about to take it along. */
  abandon(): void {
    this.#wanted = false;
  }

  pause(): void {
    this.#child?.kill('SIGSTOP');
  }

  resume(): void {
    this.#child?.kill('SIGCONT');
  }

  async logTail(): Promise<string> {
    const text = await readFile(this.#logPath, 'utf8').catch(() => '(no log)');
    return `--- end of ${this.#logPath}\n${text.trimEnd().split('\n').slice(-TAIL_LINES).join('\n')}`;
  }
}
