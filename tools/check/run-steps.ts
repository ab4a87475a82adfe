import { spawn } from 'node:child_process';
import { readFileSync, rmSync } from 'node:fs';
import { stripVTControlCharacters } from 'node:util';
import { noteFailure, readFailedTests } from './list-failures.ts';

/** One check: a command that fails by its exit code. `resultsFile` is where a vitest run writes its JSON report. */
export interface Step {
  readonly name: string;
  readonly command: string;
  readonly args: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  readonly resultsFile?: string;
  /** Print the output while it runs; else only when the step fails. */
  readonly live?: boolean;
}

export interface Counts {
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
}

interface Report {
  readonly numPassedTests: number;
  readonly numFailedTests: number;
  readonly numPendingTests: number;
}

/** The last line of a part that counts for itself: `N passed, N failed` with `, N skipped` behind it where there are any. */
const COUNT_LINE = /^(?:\w+: )?(\d+) passed, (\d+) failed(?:, (\d+) skipped)?$/;

export function readCountLine(output: string): Counts | undefined {
  const lines = stripVTControlCharacters(output).trimEnd().split('\n');
  const match = COUNT_LINE.exec(lines.at(-1)?.trim() ?? '');
  if (!match) return undefined;
  return { passed: Number(match[1]), failed: Number(match[2]), skipped: Number(match[3] ?? 0) };
}

export const formatCountLine = ({ passed, failed, skipped }: Counts): string =>
  `${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`;

export const addCounts = (counts: readonly Counts[]): Counts =>
  counts.reduce(
    (sum, each) => ({
      passed: sum.passed + each.passed,
      failed: sum.failed + each.failed,
      skipped: sum.skipped + each.skipped,
    }),
    { passed: 0, failed: 0, skipped: 0 },
  );

function countFromReport(file: string): Counts | undefined {
  try {
    const report = JSON.parse(readFileSync(file, 'utf8')) as Report;
    return { passed: report.numPassedTests, failed: report.numFailedTests, skipped: report.numPendingTests };
  } catch {
    return undefined; // the run died before it could write its report
  }
}

/** A step that failed counts at least one failure, whatever its own report says: a crash after the last test is one. */
function countStep(step: Step, exitCode: number, output: string): Counts {
  const own = step.resultsFile === undefined ? readCountLine(output) : countFromReport(step.resultsFile);
  const counts = own ?? { passed: exitCode === 0 && step.resultsFile === undefined ? 1 : 0, failed: 0, skipped: 0 };
  const nothingRan = step.resultsFile !== undefined && counts.passed + counts.failed + counts.skipped === 0;
  return exitCode === 0 && !nothingRan ? counts : { ...counts, failed: Math.max(1, counts.failed) };
}

function execute(step: Step): Promise<{ exitCode: number; output: string }> {
  if (step.resultsFile !== undefined) rmSync(step.resultsFile, { force: true });
  return new Promise((resolve) => {
    const child = spawn(step.command, step.args, {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { ...process.env, ...step.env },
    });
    let output = '';
    const take = (chunk: Buffer): void => {
      output += chunk.toString();
      if (step.live === true) process.stdout.write(chunk);
    };
    child.stdout.on('data', take);
    child.stderr.on('data', take);
    child.on('error', (error) => resolve({ exitCode: 127, output: `${output}\n${error.message}` }));
    child.on('close', (code) => resolve({ exitCode: code ?? 1, output }));
  });
}

async function runStep(step: Step): Promise<Counts> {
  const startedAt = performance.now();
  const { exitCode, output } = await execute(step);
  const counts = countStep(step, exitCode, output);
  const seconds = ((performance.now() - startedAt) / 1000).toFixed(1).padStart(6);
  console.log(`${exitCode === 0 && counts.failed === 0 ? 'ok    ' : 'FAILED'} ${seconds} s  ${step.name}`);
  if (counts.failed > 0 && step.live !== true) console.log(output.trimEnd());
  if (counts.failed > 0) {
    noteFailure(step.name, step.resultsFile === undefined ? [] : readFailedTests(step.resultsFile), output);
  }
  return counts;
}

/** Runs the steps, at most `concurrency` at a time in their order, and adds up what they counted. */
export async function runSteps(steps: readonly Step[], concurrency: number): Promise<Counts> {
  const waiting = [...steps];
  const counts: Counts[] = [];
  const work = async (): Promise<void> => {
    for (let step = waiting.shift(); step !== undefined; step = waiting.shift()) counts.push(await runStep(step));
  };
  await Promise.all(Array.from({ length: concurrency }, work));
  return addCounts(counts);
}
