/**
 * Finds out that the wall clock was set, from the monotonic one beside it: times in statuses, Leases of nodes and deadlines
 * of operations are wall times, and a picture that is compared with them across a jump proves nothing (04, Never 9). For a
 * while after a jump pictures have no date, so that nobody acts on them; then the new time is the time. Without it an
 * agent whose machine slept, or whose NTP stepped, would take everything for hours old and repair it.
 */
import type { Clock } from '#domain';

/** Slewing moves a clock by milliseconds a second; more than this between two looks is a step. */
const STEP_MS = 5_000;
/** Every RedisCluster is looked at once in this time, so what was seen before the jump is gone by then. */
const DISTRUST_MS = 10_000;

export class ClockWatch {
  readonly #clock: Clock;
  #offsetMs: number | undefined;
  #distrustUntilMs = -Infinity;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Whether the wall clock may be acted on now. */
  isSteady(): boolean {
    const monotonicMs = this.#clock.monotonicMs();
    const offsetMs = this.#clock.nowMs() - monotonicMs;
    const before = this.#offsetMs ?? offsetMs;
    this.#offsetMs = offsetMs;
    if (Math.abs(offsetMs - before) > STEP_MS) this.#distrustUntilMs = monotonicMs + DISTRUST_MS;
    return monotonicMs >= this.#distrustUntilMs;
  }
}
