import { spawn, type SpawnOptions } from 'node:child_process';
import { StringDecoder } from 'node:string_decoder';

export interface CommandOptions {
  /** Milliseconds after which the command is killed and counts as failed; ten minutes when absent. */
  timeoutMs?: number;
  cwd?: string;
  env?: NodeJS.ProcessEnv;
  input?: string;
  /** Called with each full line of stderr, as it comes. */
  onStderrLine?: (line: string) => void;
}

export interface CommandResult {
  stdout: string;
  stderr: string;
  /** 124 when the deadline passed, as `timeout` has it. */
  exitCode: number;
}

const DEFAULT_TIMEOUT_MS = 600_000;

/** Runs a command to its end and never throws for its exit code; throws when it cannot be started at all. */
export async function tryCommand(argv: readonly string[], options: CommandOptions = {}): Promise<CommandResult> {
  const [file, ...args] = argv;
  if (file === undefined) throw new Error('no command given');
  const spawnOptions: SpawnOptions = { stdio: ['pipe', 'pipe', 'pipe'] };
  if (options.cwd !== undefined) spawnOptions.cwd = options.cwd;
  if (options.env !== undefined) spawnOptions.env = options.env;
  return new Promise((resolve, reject) => {
    const child = spawn(file, args, spawnOptions);
    const stdout: Buffer[] = [];
    const stderr: Buffer[] = [];
    let timedOut = false;
    const timeoutMs = options.timeoutMs ?? DEFAULT_TIMEOUT_MS;
    const timer = setTimeout(() => {
      timedOut = true;
      child.kill('SIGKILL');
    }, timeoutMs);
    child.stdout?.on('data', (chunk: Buffer) => stdout.push(chunk));
    child.stderr?.on('data', (chunk: Buffer) => stderr.push(chunk));
    if (options.onStderrLine && child.stderr) forEachLine(child.stderr, options.onStderrLine);
    child.stdin?.on('error', () => {}); // a command that ends without reading its input is no failure
    child.stdin?.end(options.input ?? '');
    child.on('error', (error) => {
      clearTimeout(timer);
      reject(error);
    });
    child.on('close', (code) => {
      clearTimeout(timer);
      const note = timedOut ? `\nno end within ${timeoutMs / 1000} s` : '';
      resolve({
        stdout: Buffer.concat(stdout).toString(),
        stderr: Buffer.concat(stderr).toString() + note,
        exitCode: timedOut ? 124 : (code ?? 1),
      });
    });
  });
}

/** Runs a command and returns its stdout; throws with the tail of its stderr when it fails. */
export async function runCommand(argv: readonly string[], options: CommandOptions = {}): Promise<string> {
  const result = await tryCommand(argv, options);
  if (result.exitCode === 0) return result.stdout;
  const tail = (result.stderr.trim() || result.stdout.trim()).split('\n').slice(-15).join('\n');
  throw new Error(`${argv.slice(0, 4).join(' ')} failed (exit code ${result.exitCode}):\n${tail}`);
}

/** Calls `handle` with each full line of the stream, and with the last one when it has no line end. */
export function forEachLine(stream: NodeJS.ReadableStream, handle: (line: string) => void): void {
  const decoder = new StringDecoder('utf8'); // a character may be split between two chunks
  let rest = '';
  stream.on('data', (chunk: Buffer) => {
    const lines = (rest + decoder.write(chunk)).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) handle(line);
  });
  stream.on('end', () => {
    rest += decoder.end();
    if (rest !== '') handle(rest);
  });
}
