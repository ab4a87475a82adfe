import { pino } from 'pino';
import { describe, expect, it } from 'vitest';

import { Metrics } from '../../platform/telemetry/metrics.ts';
import { type StatusEntry, StatusIngest } from './status-ingest.ts';

const entry = (agentId: string, counter: number): StatusEntry => ({
  session: { agentId, sessionNo: 1 },
  batch: { counter, items: [] },
});
const create = (commit: (entries: readonly StatusEntry[]) => Promise<ReadonlySet<string>>): StatusIngest =>
  new StatusIngest({ commit }, new Metrics(), pino({ level: 'silent' }));

describe('status ingestion', () => {
  it('commits what waits together, in order', async () => {
    const commits: string[][] = [];
    const ingest = create((entries) => {
      commits.push(entries.map(({ session, batch }) => `${session.agentId}${batch.counter}`));
      return Promise.resolve(new Set());
    });
    const results = await Promise.all([
      ingest.add(entry('a', 0)),
      ingest.add(entry('b', 0)),
      ingest.add(entry('a', 1)),
    ]);
    expect(results).toEqual(['COMMITTED', 'COMMITTED', 'COMMITTED']);
    expect(commits).toEqual([['a0', 'b0', 'a1']]);
  });

  it('sets a poisoned batch aside and commits the others', async () => {
    const stored: string[] = [];
    const ingest = create((entries) => {
      if (entries.some(({ session }) => session.agentId === 'bad')) {
        return Promise.reject(Object.assign(new Error('bad text'), { driverError: { code: '22P05' } }));
      }
      stored.push(...entries.map(({ session }) => session.agentId));
      return Promise.resolve(new Set());
    });
    const added = ['a', 'b', 'bad', 'c'].map((agentId) => ingest.add(entry(agentId, 0)));
    expect(await Promise.all(added)).toEqual(['COMMITTED', 'COMMITTED', 'POISONED', 'COMMITTED']);
    expect(stored.sort()).toEqual(['a', 'b', 'c']);
  });

  it('tries again, in order, when the database fails', async () => {
    let failures = 1;
    const commits: number[][] = [];
    const ingest = create((entries) => {
      if (failures-- > 0) return Promise.reject(new Error('connection lost'));
      commits.push(entries.map(({ batch }) => batch.counter));
      return Promise.resolve(new Set());
    });
    await Promise.all([ingest.add(entry('a', 0)), ingest.add(entry('a', 1))]);
    expect(commits).toEqual([[0, 1]]);
  });

  it('tells a session that was taken over', async () => {
    const ingest = create(() => Promise.resolve(new Set(['a'])));
    expect(await ingest.add(entry('a', 0))).toBe('FENCED');
  });
});
