/**
 * What failed, said once more at the end: the output of a whole run is long, and whoever reads it first sees its last
 * lines. Steps write to one file, named by the environment, since a step may itself be a run of steps.
 */
import { appendFileSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';

const FILE = 'ATOLL_FAILURES_FILE';
/** For what a step starts that is no run of steps of ours: tests of these very functions would note their failures. */
export const NOTES_NOTHING: Readonly<Record<string, string>> = { [FILE]: '' };
const TAIL_LINES = 15;
const MAX_TESTS = 20;

/** The part of a vitest JSON report that is read here. */
interface Report {
  readonly testResults: readonly {
    readonly name: string;
    readonly message?: string;
    readonly assertionResults: readonly {
      readonly status: string;
      readonly fullName: string;
      readonly failureMessages?: readonly string[] | null;
    }[];
  }[];
}

const head = (text: string, lines: number): string =>
  stripVTControlCharacters(text).split('\n').slice(0, lines).join(' | ');

/** One line a failed test, or a file that could not run. Empty when the report is missing or knows of no failure. */
export function readFailedTests(reportFile: string): string[] {
  let report: Report;
  try {
    report = JSON.parse(readFileSync(reportFile, 'utf8')) as Report;
  } catch {
    return []; // the run died before it could write its report
  }
  return report.testResults.flatMap((file) => {
    const failed = file.assertionResults.filter(({ status }) => status === 'failed');
    if (failed.length === 0) return file.message ? [`${file.name}: ${head(file.message, 3)}`] : [];
    return failed.map((test) => `${file.name}: ${test.fullName}: ${head(test.failureMessages?.[0] ?? '', 3)}`);
  });
}

/** Notes a failed step: its failed tests, or the end of its output where no test says why. */
export function noteFailure(name: string, failedTests: readonly string[], output: string): void {
  const file = process.env[FILE];
  if (!file) return;
  const tail = stripVTControlCharacters(output).trimEnd().split('\n').slice(-TAIL_LINES);
  const lines = failedTests.length > 0 ? failedTests.slice(0, MAX_TESTS) : tail;
  appendFileSync(file, [`failed: ${name}`, ...lines.map((line) => `  ${line}`), ''].join('\n'));
}

/** Runs `work`; the outermost call prints what was noted meanwhile. */
export async function listFailures<T>(work: () => Promise<T>): Promise<T> {
  if (process.env[FILE]) return work();
  const folder = mkdtempSync(join(tmpdir(), 'atoll-failures-'));
  const file = join(folder, 'failures');
  appendFileSync(file, '');
  process.env[FILE] = file;
  try {
    const result = await work();
    const noted = readFileSync(file, 'utf8').trimEnd();
    if (noted !== '') console.log(`\n# what failed\n${noted}`);
    return result;
  } finally {
    delete process.env[FILE];
    rmSync(folder, { recursive: true, force: true });
  }
}
