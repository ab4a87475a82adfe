import type { StatusItem } from '#protocol';
import { pino } from 'pino';
import { describe, expect, it, vi } from 'vitest';

import { Metrics } from '../../../platform/telemetry/metrics.ts';
import type { StatusEntry, StatusVerdicts } from './status-entry.ts';
import { StatusIngest } from './status-ingest.ts';

const entry = (agentId: string, counter: number): StatusEntry => ({
  session: { agentId, sessionNo: 1 },
  batch: { counter, items: [] },
});
const verdicts = (some: Partial<StatusVerdicts> = {}): Promise<StatusVerdicts> =>
  Promise.resolve({ fenced: new Set<string>(), behind: new Set<string>(), inSync: new Set<string>(), ...some });
const create = (
  commit: (entries: readonly StatusEntry[]) => Promise<StatusVerdicts>,
  log = pino({ level: 'silent' }),
): StatusIngest => new StatusIngest({ commit, noteUnstored: () => Promise.resolve() }, new Metrics(), log);

describe('status ingestion', () => {
  it('commits what waits together, in order', async () => {
    const commits: string[][] = [];
    const ingest = create((entries) => {
      commits.push(entries.map(({ session, batch }) => `${session.agentId}${batch.counter}`));
      return verdicts();
    });
    const results = await Promise.all([
      ingest.add(entry('a', 0)),
      ingest.add(entry('b', 0)),
      ingest.add(entry('a', 1)),
    ]);
    expect(results).toEqual(['COMMITTED', 'COMMITTED', 'COMMITTED']);
    expect(commits).toEqual([['a0', 'b0', 'a1']]);
  });

  it('is behind by guests as by items', async () => {
    const { promise: long, resolve: end } = Promise.withResolvers<void>();
    const ingest = create(async () => {
      await long;
      return verdicts();
    });
    const guest = { hubUid: 'u', namespace: 'shop', name: 'cart', numbers: {} };
    const results = [0, 1].map((counter) =>
      ingest.add({ ...entry('a', counter), batch: { counter, items: [], guests: Array(3_000).fill(guest) } }),
    );
    expect(ingest.isBehind).toBe(true);
    end();
    expect(await Promise.all(results)).toEqual(['COMMITTED', 'COMMITTED']);
    expect(ingest.isBehind).toBe(false);
  });

  it('sets a poisoned batch aside and commits the others', async () => {
    const stored: string[] = [];
    const ingest = create((entries) => {
      if (entries.some(({ session }) => session.agentId === 'bad')) {
        return Promise.reject(Object.assign(new Error('bad text'), { driverError: { code: '22P05' } }));
      }
      stored.push(...entries.map(({ session }) => session.agentId));
      return verdicts();
    });
    const added = ['a', 'b', 'bad', 'c'].map((agentId) => ingest.add(entry(agentId, 0)));
    expect(await Promise.all(added)).toEqual(['COMMITTED', 'COMMITTED', 'POISONED', 'COMMITTED']);
    expect(stored.sort()).toEqual(['a', 'b', 'c']);
  });

  describe('of a batch with poisoned items', () => {
    const itemOf = (name: string): StatusItem => ({
      namespace: 'shop',
      name,
      uid: name,
      kind: 'RedisCluster',
      conditions: [],
      pods: [],
      foreignFields: [],
    });
    const poison = (): Promise<never> =>
      Promise.reject(Object.assign(new Error('bad text'), { driverError: { code: '22P05' } }));
    const namesOf = (entries: readonly StatusEntry[]): string[] =>
      entries.flatMap(({ batch }) => batch.items.map(({ name }) => name));

    it('keeps the others, names those left out, and ends no full resend', async () => {
      const stored: StatusEntry[] = [];
      const lines: string[] = [];
      const log = pino({ level: 'error' }, { write: (line) => void lines.push(line) });
      const ingest = create((entries) => {
        if (namesOf(entries).some((name) => name.startsWith('bad'))) return poison();
        stored.push(...entries);
        return verdicts();
      }, log);
      const items = ['a', 'bad-1', 'b', 'c', 'bad-2', 'd', 'e'].map(itemOf);
      const result = ingest.add({
        session: { agentId: 'a', sessionNo: 1 },
        batch: { counter: 3, items, complete: true, inventory: 'UNKNOWN' },
      });
      expect(await result).toBe('POISONED');
      expect(namesOf(stored)).toEqual(['a', 'b', 'c', 'd', 'e']);
      // The last one is empty: the counter counts as told.
      expect(stored.pop()?.batch).toEqual({ counter: 3, items: [] });
      expect(lines.map((line) => (JSON.parse(line) as { items: string[] }).items)).toEqual([
        ['RedisCluster shop/bad-1'],
        ['RedisCluster shop/bad-2'],
      ]);
      for (const { batch } of stored) {
        expect(batch).toMatchObject({ counter: 3, inventory: 'UNKNOWN' });
        expect(batch.complete).toBeUndefined();
      }
    });

    it('gives up on one that is poison through and through', async () => {
      let commits = 0;
      const ingest = create(() => {
        commits += 1;
        return poison();
      });
      const items = Array.from({ length: 2_000 }, (_, index) => itemOf(`bad-${index}`));
      expect(await ingest.add({ session: { agentId: 'a', sessionNo: 1 }, batch: { counter: 0, items } })).toBe(
        'POISONED',
      );
      expect(commits).toBeLessThanOrEqual(102);
    });

    it('tells a session that was taken over in between', async () => {
      const ingest = create((entries) =>
        namesOf(entries).includes('bad') ? poison() : verdicts({ fenced: new Set(['a 1']) }),
      );
      const items = [itemOf('good'), itemOf('bad')];
      expect(await ingest.add({ session: { agentId: 'a', sessionNo: 1 }, batch: { counter: 0, items } })).toBe(
        'FENCED',
      );
    });
  });

  describe('of an agent whose status the database refuses', () => {
    const statusOf = (agentId: string, counter: number, sessionNo = 1): StatusEntry => ({
      session: { agentId, sessionNo },
      batch: {
        counter,
        items: [
          {
            namespace: 'shop',
            name: `${agentId}-${counter}`,
            uid: 'u',
            kind: 'RedisCluster',
            conditions: [],
            pods: [],
            foreignFields: [],
          },
        ],
      },
    });
    /** All statements with something of the agent `bad` fail, those that only count its batch too. */
    function refuse(code: string): { readonly ingest: StatusIngest; readonly stored: string[]; end(): void } {
      const stored: string[] = [];
      let fails = true;
      const ingest = create((entries) => {
        if (fails && entries.some(({ session }) => session.agentId === 'bad'))
          return Promise.reject(Object.assign(new Error(code), { driverError: { code } }));
        stored.push(...entries.flatMap(({ batch }) => batch.items.map(({ name }) => name)));
        return verdicts();
      });
      return { ingest, stored, end: () => (fails = false) };
    }

    it.each(['22P05', '54000', '42703', 'P0001', 'XX000', '40001', '55P03', '57014'])(
      'with %s the others are stored at once, again and again',
      async (code) => {
        const { ingest, stored } = refuse(code);
        void ingest.add(statusOf('bad', 0)).catch(() => undefined);
        for (const counter of [0, 1, 2])
          expect(await Promise.all(['a', 'b'].map((agentId) => ingest.add(statusOf(agentId, counter))))).toEqual([
            'COMMITTED',
            'COMMITTED',
          ]);
        expect(stored).toEqual(['a-0', 'b-0', 'a-1', 'b-1', 'a-2', 'b-2']);
        await ingest.stop();
      },
    );

    it('is written in its order once the database takes it again, and its age is known until then', async () => {
      const { ingest, stored, end } = refuse('55P03');
      const results = [0, 1].map((counter) => ingest.add(statusOf('bad', counter)));
      expect(await ingest.add(statusOf('a', 0))).toBe('COMMITTED');
      expect(ingest.oldestMs).toBeGreaterThan(0);
      end();
      expect(await Promise.all(results)).toEqual(['COMMITTED', 'COMMITTED']);
      expect(stored).toEqual(['a-0', 'bad-0', 'bad-1']);
      expect(ingest.oldestMs).toBe(0);
    });

    it('waits for its newest session alone', async () => {
      const { ingest, end } = refuse('55P03');
      const older = ingest.add(statusOf('bad', 0, 1));
      expect(await ingest.add(statusOf('a', 0))).toBe('COMMITTED');
      const newer = ingest.add(statusOf('bad', 0, 2));
      expect(await older).toBe('FENCED');
      end();
      expect(await newer).toBe('COMMITTED');
    });
  });

  it('does not make others wait for a commit that is long, and keeps the order of each agent', async () => {
    const commits: string[] = [];
    const { promise: long, resolve: end } = Promise.withResolvers<void>();
    const ingest = create(async (entries) => {
      const names = entries.map(({ session, batch }) => `${session.agentId}${batch.counter}`).join(' ');
      commits.push(names);
      if (names === 'a0') await long;
      return verdicts();
    });
    const first = ingest.add(entry('a', 0));
    await vi.waitFor(() => expect(commits).toEqual(['a0']));
    const second = ingest.add(entry('a', 1));
    expect(await ingest.add(entry('b', 0))).toBe('COMMITTED');
    expect(commits).toEqual(['a0', 'b0']);
    end();
    expect(await Promise.all([first, second])).toEqual(['COMMITTED', 'COMMITTED']);
    expect(commits).toEqual(['a0', 'b0', 'a1']);
  });

  it('tries again, in order, when the database fails', async () => {
    let failures = 1;
    const commits: number[][] = [];
    const ingest = create((entries) => {
      if (failures-- > 0) return Promise.reject(new Error('connection lost'));
      commits.push(entries.map(({ batch }) => batch.counter));
      return verdicts();
    });
    await Promise.all([ingest.add(entry('a', 0)), ingest.add(entry('a', 1))]);
    expect(commits).toEqual([[0, 1]]);
  });

  it('acknowledges nothing and leaves nothing out while there is no partition to write to', async () => {
    let attempts = 0;
    const settled: string[] = [];
    const stored: StatusEntry[] = [];
    const ingest = create((entries) => {
      attempts += 1;
      if (attempts < 3) return Promise.reject(Object.assign(new Error('no row'), { driverError: { code: '23514' } }));
      expect(settled).toEqual([]);
      stored.push(...entries);
      return verdicts();
    });
    const item = { namespace: 'shop', name: 'cart', uid: 'u', kind: 'RedisCluster' };
    const items = [{ ...item, conditions: [], pods: [], foreignFields: [] }];
    const added = ['a', 'b'].map(async (agentId) => {
      settled.push(await ingest.add({ ...entry(agentId, 0), batch: { counter: 0, items } }));
    });
    await Promise.all(added);
    expect(settled).toEqual(['COMMITTED', 'COMMITTED']);
    expect(stored.map(({ batch }) => batch.items)).toEqual([items, items]);
    expect(attempts).toBe(3);
  });

  it('answers a digest, and one batch of a session whose status was lost', async () => {
    const ingest = create(() => verdicts({ inSync: new Set(['a']), behind: new Set(['b 1']) }));
    const digest: StatusEntry = { ...entry('a', 0), batch: { counter: 0, items: [], statusDigest: '0'.repeat(32) } };
    const results = [digest, entry('a', 1), entry('b', 4), entry('b', 5)].map((one) => ingest.add(one));
    expect(await Promise.all(results)).toEqual(['IN_SYNC', 'COMMITTED', 'BEHIND', 'COMMITTED']);
  });

  it('tells a session that was taken over', async () => {
    const ingest = create(() => verdicts({ fenced: new Set(['a 1']) }));
    expect(await ingest.add(entry('a', 0))).toBe('FENCED');
  });
});
