import type { ObjectOutcome } from '#protocol';
import { describe, expect, it } from 'vitest';
import { OutcomeBatch } from './outcome-batch.ts';

const MAX_FRAME_BYTES = 8_192;
const HASH = 'a'.repeat(64);
const outcome = (hubUid: string, more: Partial<ObjectOutcome> = {}): ObjectOutcome => ({
  hubUid,
  hubGeneration: 1,
  state: 'APPLIED',
  ...more,
});

const tell = (outcomes: readonly ObjectOutcome[]): ObjectOutcome[][] => {
  const parts: ObjectOutcome[][] = [];
  const batch = new OutcomeBatch(
    MAX_FRAME_BYTES,
    (part) => parts.push([...part]),
    () => 0,
  );
  for (const each of outcomes) batch.add(each);
  return [...parts, batch.take()];
};

describe('outcomes', () => {
  it('are told in parts below the frame limit, in order, each once', () => {
    const all = Array.from({ length: 500 }, (_, index) => outcome(`u${index}`));
    const parts = tell(all);
    expect(parts.length).toBeGreaterThan(10);
    expect(parts.flat()).toEqual(all);
    for (const part of parts) expect(JSON.stringify(part).length).toBeLessThan(MAX_FRAME_BYTES);
  });

  it('are told after half a minute, however few they are, so that the hub does not send it all again', () => {
    let nowMs = 0;
    const parts: string[][] = [];
    const batch = new OutcomeBatch(
      MAX_FRAME_BYTES,
      (part) => parts.push(part.map(({ hubUid }) => hubUid)),
      () => nowMs,
    );
    // An API server that takes 12 s for each.
    for (const hubUid of ['a', 'b', 'c', 'd', 'e', 'f', 'g']) {
      nowMs += 12_000;
      batch.add(outcome(hubUid));
    }
    expect(parts).toEqual([
      ['a', 'b', 'c'],
      ['d', 'e', 'f'],
    ]);
    expect(batch.take().map(({ hubUid }) => hubUid)).toEqual(['g']);
  });

  it('of few objects are one part', () => {
    expect(tell([outcome('a'), outcome('b')])).toEqual([[outcome('a'), outcome('b')]]);
  });

  it('that are too large for a frame lose the fields whose values make them so, and nothing that decides', () => {
    const field = { path: 'spec.size', manager: 'kubectl', liveValue: '3' };
    const contested = [{ ...field, path: 'spec.config', liveValue: 'x'.repeat(MAX_FRAME_BYTES) }, field];
    const told = tell([outcome('a', { state: 'CONFLICT', specHash: HASH, contested })]).flat();
    expect(told).toEqual([outcome('a', { state: 'CONFLICT', specHash: HASH, contested: [field] })]);
  });

  it('lose what the hub could not read, since that would end the session', () => {
    const field = { path: 'spec.config.maxmemory', manager: 'kubectl' };
    const contested = [{ ...field, path: `spec.config.${'k'.repeat(5_000)}` }, field];
    expect(tell([outcome('a', { state: 'CONFLICT', specHash: HASH, contested })]).flat()).toEqual([
      outcome('a', { state: 'CONFLICT', specHash: HASH, contested: [field] }),
    ]);
    expect(tell([outcome('a', { state: 'REJECTED', specHash: 'written by hand' })]).flat()).toEqual([
      outcome('a', { state: 'REJECTED' }),
    ]);
  });
});
