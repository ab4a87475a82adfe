import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { addCounts, formatCountLine, readCountLine, runSteps } from './run-steps.ts';

describe('readCountLine', () => {
  it('reads the closing line, coloured or not', () => {
    expect(readCountLine('noise\n\u001b[32m3 passed, 1 failed, 2 skipped\u001b[0m\n')).toEqual({
      passed: 3,
      failed: 1,
      skipped: 2,
    });
  });
  it('does not take a count from the middle of an output', () => {
    expect(readCountLine('3 passed, 0 failed\nthen it crashed')).toBeUndefined();
  });
});

describe('runSteps', () => {
  const node = (name: string, code: string) => ({ name, command: process.execPath, args: ['-e', code] });

  it('counts a failing command as a failure', async () => {
    expect(await runSteps([node('good', ''), node('bad', 'process.exit(3)')], 2)).toEqual({
      passed: 1,
      failed: 1,
      skipped: 0,
    });
  });
  it('counts a crash after a clean count as a failure', async () => {
    const step = node('crash', 'console.log("5 passed, 0 failed"); process.exit(1)');
    expect(await runSteps([step], 1)).toEqual({ passed: 5, failed: 1, skipped: 0 });
  });
  it('counts a test run that wrote no report as a failure', async () => {
    const step = { ...node('silent', ''), resultsFile: join(tmpdir(), 'atoll-no-such-report.json') };
    expect(await runSteps([step], 1)).toEqual({ passed: 0, failed: 1, skipped: 0 });
  });
});

it('formats what it adds up', () => {
  const sum = addCounts([
    { passed: 1, failed: 0, skipped: 1 },
    { passed: 2, failed: 3, skipped: 0 },
  ]);
  expect(formatCountLine(sum)).toBe('3 passed, 3 failed, 1 skipped');
  expect(formatCountLine({ passed: 1, failed: 0, skipped: 0 })).toBe('1 passed, 0 failed');
});
