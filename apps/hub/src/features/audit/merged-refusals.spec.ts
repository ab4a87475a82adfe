import { beforeEach, describe, expect, it } from 'vitest';
import type { NewAuditRow } from './audit.repository.ts';
import { MergedRefusals, MOST_ROWS, ROWS_A_MINUTE, WINDOW_MS } from './merged-refusals.ts';

const START_MS = Date.UTC(2026, 0, 1);
let nowMs: number;
let merged: MergedRefusals;
beforeEach(() => {
  nowMs = 0;
  merged = new MergedRefusals();
});

const row = (about: Partial<NewAuditRow> = {}): NewAuditRow => ({
  at: new Date(START_MS + nowMs),
  project_id: null,
  principal: 'viewer',
  action: 'deleteRedisCluster',
  target: 'a',
  before: null,
  after: null,
  result: 'REFUSED',
  code: 'FORBIDDEN',
  request_id: 'r',
  ...about,
});
const refuse = (about?: Partial<NewAuditRow>, principalId = 'p'): boolean =>
  merged.note(principalId, row(about), nowMs);
const at = (ms: number): Date => new Date(START_MS + ms);

describe('refusals of one principal', () => {
  it('of one kind within a minute are the first row and one with their number, first and last time', () => {
    const written: boolean[] = [];
    for (; nowMs < WINDOW_MS; nowMs += 1_000) written.push(refuse());
    expect(written.filter(Boolean)).toHaveLength(1);
    expect(written[0]).toBe(true);
    expect(merged.due(nowMs - 1)).toEqual([]);
    const { at: first, last_at: last, count } = merged.due(nowMs)[0] ?? row();
    expect({ first, last, count }).toEqual({ first: at(1_000), last: at(59_000), count: 59 });
    expect(refuse()).toBe(true);
  });

  it('that came once leave no second row', () => {
    refuse();
    expect(merged.due(WINDOW_MS)).toEqual([]);
  });

  it.each([
    ['target', { target: 'b' }],
    ['action', { action: 'updateRedisCluster' }],
    ['code', { code: 'NOT_FOUND' }],
    ['result', { result: 'DRY_RUN' }],
  ] as const)('of another %s have a row of their own', (_, about) => {
    expect([refuse(), refuse(about), refuse(about)]).toEqual([true, true, false]);
  });

  it('do not count for another principal', () => {
    expect([refuse(), refuse({}, 'q')]).toEqual([true, true]);
  });

  it('of ever other targets have a bounded number of rows, and one a minute that counts the rest by kind', () => {
    const rows: NewAuditRow[] = [];
    let written = 0;
    const SECONDS = 3_600;
    for (let second = 0; second < SECONDS; second += 1) {
      for (let one = 0; one < 10; one += 1) written += refuse({ target: `${second} ${one}` }) ? 1 : 0;
      nowMs += 1_000;
      if (second % 5 === 4) rows.push(...merged.due(nowMs));
    }
    rows.push(...merged.due(nowMs, true));
    expect(written + rows.length).toBeLessThanOrEqual(MOST_ROWS + 60 * (ROWS_A_MINUTE + 1));
    expect(written + rows.reduce((sum, each) => sum + (each.count ?? 1), 0)).toBe(SECONDS * 10);
    expect(rows[0]).toMatchObject({ action: 'severalRefused', principal: 'viewer', target: null });
    expect(rows[0]?.after).toEqual({ 'deleteRedisCluster REFUSED FORBIDDEN': rows[0]?.count });
  });

  it('of a few kinds, each many times, stay within the same number of rows', () => {
    let written = 0;
    for (; nowMs < 3_600_000; nowMs += 1_000) {
      for (let kind = 0; kind < MOST_ROWS + 5; kind += 1) written += refuse({ action: `action ${kind}` }) ? 1 : 0;
      written += merged.due(nowMs).length;
    }
    expect(written).toBeLessThanOrEqual(MOST_ROWS + 60 * (ROWS_A_MINUTE + 1));
  });

  it('are all told at a stop', () => {
    refuse();
    refuse();
    for (let target = 0; target < MOST_ROWS + 4; target += 1) refuse({ target: `${target}` });
    const counts = merged.due(nowMs, true).map(({ count }) => count);
    expect(counts.reduce((sum, count) => Number(sum) + Number(count), 0)).toBe(1 + 5);
    expect(merged.due(nowMs, true)).toEqual([]);
  });

  it('are counted with those whose row the database did not take', () => {
    refuse();
    merged.putBack('p', row());
    nowMs = 1_000;
    refuse();
    expect(merged.due(WINDOW_MS)).toMatchObject([{ at: at(0), last_at: at(1_000), count: 2 }]);
  });

  it('are forgotten when nothing was refused for long', () => {
    for (let principal = 0; principal < 50; principal += 1) refuse({}, `${principal}`);
    expect(merged.size).toBe(50);
    merged.due(WINDOW_MS * MOST_ROWS);
    expect(merged.size).toBe(0);
  });

  it('keep nothing of what a dry run showed, beyond its own row', () => {
    refuse({ result: 'DRY_RUN', after: 'large' });
    refuse({ result: 'DRY_RUN', after: 'large' });
    expect(merged.due(WINDOW_MS)).toMatchObject([{ after: null }]);
  });
});
