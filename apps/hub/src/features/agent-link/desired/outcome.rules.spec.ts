import { describe, expect, it } from 'vitest';

import { bookOutcome, type DeliveryRow, pauseAfterAttempt } from './outcome.rules.ts';

const row: DeliveryRow = {
  hubUid: 'u',
  hubGeneration: 3,
  specHash: 'hash3',
  deletion: null,
  isHeld: false,
  state: 'PENDING',
  code: null,
  attempts: 0,
  appliedGeneration: 2,
  appliedHash: 'hash2',
};
const outcome = { hubUid: 'u', hubGeneration: 3 };

describe('an outcome', () => {
  it('APPLIED of the current generation settles it', () => {
    expect(bookOutcome(row, { ...outcome, state: 'APPLIED' }, undefined)).toEqual({
      applied: { generation: 3, hash: 'hash3' },
      change: {
        state: 'APPLIED',
        code: null,
        message: null,
        retryable: null,
        attempts: 0,
        nextAttemptInMs: null,
        contested: null,
      },
    });
  });

  it('APPLIED of an older generation is counted, and changes nothing that is shown', () => {
    const booked = bookOutcome(
      row,
      { ...outcome, hubGeneration: 2, state: 'APPLIED' },
      { generation: 2, hash: 'sent2' },
    );
    expect(booked).toEqual({ applied: { generation: 2, hash: 'sent2' } });
  });

  it('APPLIED of a generation whose hash nobody knows asks for a comparison', () => {
    expect(bookOutcome(row, { ...outcome, hubGeneration: 1, state: 'APPLIED' }, undefined)).toEqual({ compare: true });
  });

  it.each([
    [3, 'another hash'],
    [4, 'hash of a generation to come'],
  ])('APPLIED of what this hub never made (generation %i, %s) asks for a comparison', (hubGeneration, specHash) => {
    const booked = bookOutcome(row, { hubUid: 'u', hubGeneration, specHash, state: 'APPLIED' }, undefined);
    expect(booked).toMatchObject({ applied: { generation: hubGeneration, hash: specHash }, compare: true });
  });

  it('CONFLICT is written, with the fields left to others', () => {
    const contested = [{ path: 'spec.size', manager: 'kubectl', liveValue: '5' }];
    const booked = bookOutcome(row, { ...outcome, state: 'CONFLICT', contested }, undefined);
    expect(booked).toMatchObject({ applied: { generation: 3 }, change: { state: 'CONFLICT', contested } });
  });

  it('REJECTED waits longer each time', () => {
    const booked = bookOutcome({ ...row, attempts: 2 }, { ...outcome, state: 'REJECTED', retryable: false }, undefined);
    expect(booked.change).toMatchObject({ state: 'REJECTED', attempts: 3, retryable: false, nextAttemptInMs: 240_000 });
    expect(booked.applied).toBeUndefined();
  });

  it('DELETED_LOCALLY is counted no more', () => {
    const booked = bookOutcome(row, { ...outcome, state: 'DELETED_LOCALLY' }, undefined);
    expect(booked).toMatchObject({ applied: null, change: { state: 'DELETED_LOCALLY', nextAttemptInMs: null } });
  });

  it('DELETED ends the row of a tombstone, and of nothing else', () => {
    const deleted = { ...outcome, hubGeneration: 0, state: 'DELETED' } as const;
    expect(bookOutcome({ ...row, deletion: 'DELETE' }, deleted, undefined)).toEqual({ remove: true });
    expect(bookOutcome(row, deleted, undefined)).toEqual({ compare: true });
  });

  it('of an upsert says nothing about the tombstone that was sent after it', () => {
    const refused = { ...outcome, state: 'REJECTED' } as const;
    expect(bookOutcome({ ...row, deletion: 'DELETE' }, refused, undefined)).toEqual({});
    const waits = { ...outcome, hubGeneration: 0, state: 'WAITING', code: 'NOT_PERMITTED_HERE' } as const;
    expect(bookOutcome({ ...row, deletion: 'DELETE' }, waits, undefined).change).toMatchObject({ state: 'WAITING' });
  });

  it('GENERATION_REUSED is answered by a new generation, once', () => {
    const reused = { ...outcome, state: 'REJECTED', code: 'GENERATION_REUSED' } as const;
    expect(bookOutcome(row, reused, undefined)).toEqual({ reissue: true });
    expect(bookOutcome(row, { ...reused, hubGeneration: 2 }, undefined)).toEqual({});
  });

  it('about an object that is held for a person is no news', () => {
    const held = { ...row, code: 'GENERATION_AHEAD' };
    expect(bookOutcome(held, { ...outcome, state: 'REJECTED', code: 'GENERATION_REUSED' }, undefined)).toEqual({});
    const doomed = { ...row, deletion: 'DELETE', isHeld: true } as const;
    const refused = { ...outcome, hubGeneration: 0, state: 'REJECTED', code: 'DELETE_BREAKER' } as const;
    expect(bookOutcome(doomed, refused, undefined)).toEqual({});
    expect(bookOutcome(doomed, { ...refused, state: 'DELETED' }, undefined)).toEqual({ remove: true });
  });
});

describe('pauses', () => {
  it('grow to five minutes when a retry may help, to an hour when it cannot', () => {
    expect([1, 2, 3, 20].map((n) => pauseAfterAttempt(n, true))).toEqual([15_000, 30_000, 60_000, 300_000]);
    expect([1, 2, 20].map((n) => pauseAfterAttempt(n, false))).toEqual([60_000, 120_000, 3_600_000]);
  });
});
