import { spawn, type ChildProcess } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Real redis-servers of this machine, each on an address of its own in 127.0.0.0/8, as pods have one. */
export class LoopbackRedis {
  readonly #folder = mkdtempSync(join(tmpdir(), 'atoll-loopback-'));
  readonly #processes = new Map<string, ChildProcess>();
  readonly #argv: readonly string[];
  #addresses = 0;

  /** `argv` starts the server; its own arguments are added. */
  constructor(argv: readonly string[]) {
    this.#argv = argv;
    // Hundreds of servers must not outlive a run that was interrupted.
    for (const signal of ['SIGINT', 'SIGTERM'] as const) {
      process.once(signal, () => {
        this.stopAll();
        process.exit(1);
      });
    }
  }

  get count(): number {
    return this.#processes.size;
  }

  /** An address that nobody has had yet. */
  nextAddress(): string {
    this.#addresses += 1;
    return `127.20.${Math.floor(this.#addresses / 250)}.${(this.#addresses % 250) + 1}`;
  }

  /** `directives` go through stdin, since passwords are among them. */
  start(address: string, port: number, directives: readonly string[], mode: 'redis' | 'sentinel' = 'redis'): void {
    const common = [`port ${port}`, `bind ${address}`, 'protected-mode no', `dir ${this.#folder}`, 'loglevel warning'];
    const input = [...common, ...directives, ''].join('\n');
    const [file = '', ...args] = this.#argv;
    const child =
      mode === 'redis'
        ? spawn(file, [...args, '-'], { stdio: ['pipe', 'ignore', 'ignore'] })
        : spawn(file, [...args, this.#writeFile(address, input), '--sentinel'], { stdio: 'ignore' });
    child.stdin?.end(input);
    this.#processes.set(address, child);
  }

  /** The server's process, for signals. */
  pidOf(address: string): number | undefined {
    return this.#processes.get(address)?.pid;
  }

  kill(address: string, signal: NodeJS.Signals = 'SIGKILL'): void {
    this.#processes.get(address)?.kill(signal);
  }

  stopAll(): void {
    for (const process of this.#processes.values()) process.kill('SIGKILL');
    this.#processes.clear();
    rmSync(this.#folder, { recursive: true, force: true });
  }

  /** A Sentinel needs a file, and writes to it. */
  #writeFile(address: string, input: string): string {
    const file = join(this.#folder, `${address}.conf`);
    writeFileSync(file, input, { mode: 0o600 });
    return file;
  }
}
