import type { EventItem } from '#protocol';
import { pino } from 'pino';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

import { eventIdOf } from './event-id.ts';
import { EventIngest } from './event-ingest.ts';
import { Metrics } from '../../../platform/telemetry/metrics.ts';
import type { EventEntry, EventRepository } from './event.repository.ts';
import { sessionKeyOf } from '../sessions/session-key.ts';

beforeEach(() => vi.useFakeTimers());
afterEach(() => vi.useRealTimers());

const itemOf = (message: string): EventItem => ({
  namespace: 'shop',
  name: 'cart',
  severity: 'Warning',
  reason: 'Degraded',
  message,
  first: '2026-11-30T10:00:00.000Z',
  last: '2026-11-30T10:00:00.000Z',
  count: 1,
});
const entryOf = (agentId: string, message = 'm'): EventEntry => ({
  session: { agentId, sessionNo: 1 },
  items: [itemOf(message)],
});
/** No session is fenced. */
const none: ReadonlySet<string> = new Set();
const createIngest = (repository: Pick<EventRepository, 'store'>, log = pino({ level: 'silent' })): EventIngest =>
  new EventIngest(repository, log, new Metrics(), () => Date.now());
const failure = (code: string): Error => Object.assign(new Error(code), { driverError: { code } });

describe('events', () => {
  it('of all agents are stored together', async () => {
    const runs: number[] = [];
    const ingest = createIngest({ store: (entries) => (runs.push(entries.length), Promise.resolve(none)) });
    const stored = Promise.all(['a', 'b', 'c'].map((agentId) => ingest.add(entryOf(agentId), () => true)));
    await vi.advanceTimersByTimeAsync(60);
    expect(await stored).toEqual(['STORED', 'STORED', 'STORED']);
    expect(runs).toEqual([3]);
  });

  it('of a session that may write no more are not taken for stored, and those beside them are', async () => {
    const fenced = entryOf('b');
    const ingest = createIngest({ store: () => Promise.resolve(new Set([sessionKeyOf(fenced.session)])) });
    const added = Promise.all([entryOf('a'), fenced].map((entry) => ingest.add(entry, () => true)));
    await vi.advanceTimersByTimeAsync(60);
    expect(await added).toEqual(['STORED', 'FENCED']);
  });

  it('wait while the database is away, and go with a session that ends', async () => {
    let away = true;
    const ingest = createIngest({ store: () => (away ? Promise.reject(failure('08006')) : Promise.resolve(none)) });
    let isOpen = true;
    const kept = ingest.add(entryOf('a'), () => true);
    const left = ingest.add(entryOf('b'), () => isOpen);
    await vi.advanceTimersByTimeAsync(2_500);
    isOpen = false;
    away = false;
    await vi.advanceTimersByTimeAsync(2_500);
    expect([await kept, await left]).toEqual(['STORED', 'ENDED']);
  });

  it('wait, and are not left out, while there is no partition to write to', async () => {
    let isMissing = true;
    const stored: string[] = [];
    const store = (entries: readonly EventEntry[]): Promise<ReadonlySet<string>> => {
      if (isMissing) return Promise.reject(failure('23514'));
      stored.push(...entries.map(({ session }) => session.agentId));
      return Promise.resolve(none);
    };
    const ingest = createIngest({ store });
    const kept = Promise.all(['a', 'b'].map((agentId) => ingest.add(entryOf(agentId), () => true)));
    await vi.advanceTimersByTimeAsync(500);
    expect(stored).toEqual([]);
    isMissing = false;
    await vi.advanceTimersByTimeAsync(2_500);
    expect(await kept).toEqual(['STORED', 'STORED']);
    expect(stored.sort()).toEqual(['a', 'b']);
  });

  it('that cannot be stored are left out alone', async () => {
    const stored: string[] = [];
    const ingest = createIngest({
      store: (entries) => {
        if (entries.some(({ items }) => items[0]?.message === 'bad')) return Promise.reject(failure('22P05'));
        stored.push(...entries.map(({ session }) => session.agentId));
        return Promise.resolve(none);
      },
    });
    const added = Promise.all([
      ingest.add(entryOf('a'), () => true),
      ingest.add(entryOf('b', 'bad'), () => true),
      ingest.add(entryOf('c'), () => true),
    ]);
    await vi.advanceTimersByTimeAsync(200);
    expect(await added).toEqual(['STORED', 'STORED', 'STORED']);
    expect(stored.sort()).toEqual(['a', 'c']);
  });
});

describe('events that the database refuses', () => {
  const refusing =
    (code: string, stored: string[]) =>
    (entries: readonly EventEntry[]): Promise<ReadonlySet<string>> => {
      const messages = entries.flatMap(({ items }) => items.map(({ message }) => message));
      if (messages.includes('bad')) return Promise.reject(failure(code));
      stored.push(...messages);
      return Promise.resolve(none);
    };

  it.each(['22P05', '54000', 'P0001', 'XX000', '42501'])(
    'with %s are found in their batch, left out and named, and all others are stored',
    async (code) => {
      const [stored, lines]: [string[], string[]] = [[], []];
      const log = pino({ level: 'error' }, { write: (line) => void lines.push(line) });
      const ingest = createIngest({ store: refusing(code, stored) }, log);
      const items = ['a', 'b', 'bad', 'c', 'd'].map(itemOf);
      const added = ingest.add({ session: { agentId: 'x', sessionNo: 1 }, items }, () => true);
      const others = ingest.add(entryOf('y', 'of y'), () => true);
      await vi.advanceTimersByTimeAsync(30_000);
      expect([await added, await others]).toEqual(['STORED', 'STORED']);
      expect(stored.sort()).toEqual(['a', 'b', 'c', 'd', 'of y']);
      expect(lines.map((line) => (JSON.parse(line) as { events: string[] }).events)).toEqual([
        ['Degraded of shop/cart'],
      ]);
    },
  );

  it('because others lock what they need are never left out', async () => {
    const stored: string[] = [];
    const ingest = createIngest({ store: refusing('55P03', stored) });
    let isOpen = true;
    const bad = ingest.add(entryOf('x', 'bad'), () => isOpen);
    const good = ingest.add(entryOf('y', 'good'), () => true);
    await vi.advanceTimersByTimeAsync(120_000);
    isOpen = false;
    await vi.advanceTimersByTimeAsync(2_000);
    expect([await bad, await good, stored]).toEqual(['ENDED', 'STORED', ['good']]);
  });
});

describe('the id of an event', () => {
  it('is the same for repeats and counts, and another for another agent, object, sentence or first time', () => {
    const id = eventIdOf('agent', itemOf('m'));
    expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    expect(eventIdOf('agent', { ...itemOf('m'), count: 7, last: 'later', hubUid: 'u' })).toBe(id);
    const others = [
      eventIdOf('other', itemOf('m')),
      eventIdOf('agent', itemOf('n')),
      eventIdOf('agent', { ...itemOf('m'), name: 'other' }),
      eventIdOf('agent', { ...itemOf('m'), first: 'other' }),
    ];
    expect(new Set([id, ...others]).size).toBe(5);
  });
});
