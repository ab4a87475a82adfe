/**
 * The only way code learns the time. Decisions take plain numbers; edges take a Clock, so that tests can hold time.
 * `nowMs` is wall time (ms since 1970, may jump); `monotonicMs` never goes back and is the one to measure ages with.
 */
export interface Clock {
  nowMs(): number;
  monotonicMs(): number;
}
