import { buildTombstone } from '#testing';
import { describe, expect, it } from 'vitest';
import { MassDeletes } from './mass-deletes.ts';

const never = (): boolean => false;
const approval = { id: 'x', hubUids: ['a'], expiresAt: '2100-01-01T00:00:00Z' };
const bare = ['a', 'b', 'c', 'd'].map((hubUid) => buildTombstone(hubUid));

describe('deletes that come all at once', () => {
  it('are a mass when they are more than the limit, and named once', () => {
    const mass = new MassDeletes();
    expect(mass.note(bare, 3, never)).toEqual(bare.map(({ namespace, name }) => ({ namespace, name })));
    expect(mass.note(bare, 3, never)).toEqual([]);
    expect(bare.every(({ hubUid }) => mass.has(hubUid))).toBe(true);
  });

  it('stay a mass when they come again one by one', () => {
    const mass = new MassDeletes();
    mass.note(bare, 3, never);
    expect(mass.note(bare.slice(0, 1), 3, never)).toEqual([]);
    expect(mass.has('a')).toBe(true);
  });

  it.each([
    ['as many as the limit', bare.slice(0, 3)],
    ['those that a person approved', [{ ...buildTombstone('a'), approval }, ...bare.slice(1)]],
    ['those that only let go', [buildTombstone('a', { operation: 'ORPHAN' }), ...bare.slice(1)]],
  ])('%s are none', (_, tombstones) => {
    const mass = new MassDeletes();
    expect(mass.note(tombstones, 3, never)).toEqual([]);
    expect(mass.has('b')).toBe(false);
  });

  it('what was carried out before does not count: its object is on its way out', () => {
    expect(new MassDeletes().note(bare, 3, (hubUid) => hubUid === 'a')).toEqual([]);
  });
});
