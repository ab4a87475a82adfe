import { describe, expect, it } from 'vitest';
import type { Plan, RedisClusterObject } from '#domain';
import { DisruptionBook } from './disruption-book.ts';

const rollout = (reason: string) => ({ updated: 0, total: 3, reason, waitingFor: '', since: '2026-01-01T00:00:00Z' });
const plan = (reason?: string): Plan =>
  ({ status: reason === undefined ? {} : { rollout: rollout(reason) } }) as unknown as Plan;
const resource = (name: string, reason?: string): RedisClusterObject =>
  ({
    metadata: { namespace: 'shop', name },
    status: reason === undefined ? {} : { rollout: rollout(reason) },
  }) as unknown as RedisClusterObject;

describe('DisruptionBook', () => {
  it('counts the others by what they planned last', () => {
    const book = new DisruptionBook();
    const all = [resource('a'), resource('b'), resource('c')];
    book.note('shop/a', plan('RestartingPod'));
    book.note('shop/b', plan('RolloutPaused'));
    expect(['shop/a', 'shop/b', 'shop/c'].map((key) => book.countElsewhere(key, all))).toEqual([0, 1, 1]);
  });

  it('knows from the status what was begun before this process, until a pass says otherwise', () => {
    const book = new DisruptionBook();
    const all = [resource('a', 'WaitingForPod'), resource('b', 'OutsideMaintenanceWindow'), resource('c')];
    expect(book.countElsewhere('shop/c', all)).toBe(1);
    book.note('shop/a', plan());
    expect(book.countElsewhere('shop/c', all)).toBe(0);
  });

  it('names those that wait when a turn is given back, also by an object that is gone', () => {
    const book = new DisruptionBook();
    for (const key of ['shop/a', 'shop/b']) expect(book.note(key, plan('RestartingPod'))).toEqual([]);
    expect(book.note('shop/c', plan('WaitingForTurn'))).toEqual([]);
    expect(book.note('shop/a', plan('WaitingForPod'))).toEqual([]);
    expect(book.note('shop/a', plan())).toEqual(['shop/c']);
    expect(book.forget('shop/b')).toEqual(['shop/c']);
    expect(book.forget('shop/never')).toEqual([]);
  });
});
