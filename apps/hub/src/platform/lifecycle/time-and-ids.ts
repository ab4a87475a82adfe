import type { Clock } from '#domain';

import { randomBytes } from 'node:crypto';
import { performance } from 'node:perf_hooks';
import { v7 as uuidV7 } from 'uuid';

/** Where new ids and secrets come from, so that tests can hold them. */
export interface IdSource {
  /** UUIDv7: sorts by time of making. */
  newId(): string;
  randomBytes(length: number): Buffer;
}

/** Injection tokens of the two edges: `@Inject(CLOCK) clock: Clock`, `@Inject(IDS) ids: IdSource`. */
export const CLOCK = Symbol('CLOCK');
export const IDS = Symbol('IDS');

export const systemClock: Clock = {
  nowMs: () => Date.now(),
  monotonicMs: () => performance.now(),
};

export const systemIds: IdSource = {
  newId: () => uuidV7(),
  randomBytes: (length) => randomBytes(length),
};
