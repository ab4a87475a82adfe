import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { listFailures, noteFailure, readFailedTests } from './list-failures.ts';

let folder: string;
const said: string[] = [];
const outer = process.env['ATOLL_FAILURES_FILE'];
beforeEach(() => {
  delete process.env['ATOLL_FAILURES_FILE'];
  folder = mkdtempSync(join(tmpdir(), 'atoll-list-failures-'));
  said.length = 0;
  vi.spyOn(console, 'log').mockImplementation((line: string) => void said.push(line));
});
afterEach(() => {
  vi.restoreAllMocks();
  rmSync(folder, { recursive: true, force: true });
  if (outer !== undefined) process.env['ATOLL_FAILURES_FILE'] = outer;
});

it('names the tests that failed, and files that could not run', () => {
  const report = join(folder, 'report.json');
  const failed = {
    status: 'failed',
    fullName: 'adds up',
    failureMessages: ['\u001b[31mexpected 1\u001b[39m\nto be 2'],
  };
  const testResults = [
    { name: 'a.spec.ts', assertionResults: [failed, { status: 'passed', fullName: 'is fine', failureMessages: [] }] },
    { name: 'b.spec.ts', message: 'no such module', assertionResults: [] },
    { name: 'c.spec.ts', message: '', assertionResults: [] },
  ];
  writeFileSync(report, JSON.stringify({ testResults }));
  expect(readFailedTests(report)).toEqual(['a.spec.ts: adds up: expected 1 | to be 2', 'b.spec.ts: no such module']);
  expect(readFailedTests(join(folder, 'missing.json'))).toEqual([]);
});

it('prints at the end of the outermost run only, the end of the output where no test says why', async () => {
  const result = await listFailures(async () => {
    await listFailures(async () => noteFailure('unit tests', ['a.spec.ts: adds up'], 'long output'));
    expect(said).toEqual([]);
    noteFailure('chaos', [], `${'noise\n'.repeat(50)}FAILED: lost\n`);
    return 7;
  });
  expect(result).toBe(7);
  expect(said).toHaveLength(1);
  expect(said[0]).toContain('failed: unit tests\n  a.spec.ts: adds up\n');
  expect(said[0]).toMatch(/failed: chaos\n( {2}noise\n){14} {2}FAILED: lost$/);
});

it('says nothing when nothing failed', async () => {
  await listFailures(async () => undefined);
  expect(said).toEqual([]);
});
