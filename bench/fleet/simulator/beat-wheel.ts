/**
 * The timers of all agents as one: a heartbeat every 15 s, a look at the peer's silence every 2.5 s. Thousands of timers of
 * their own would make the simulator dearer than the hub that it shares the machine with. It goes by the time, not by
 * its ticks: a busy process beats late, and never less often. Its clock does not count the time in which this
 * process did not come to read, which a real agent with a process of its own would have used.
 */
import { monotonicMs } from './messages.ts';

export interface Beating {
  beat(): void;
  look(): void;
}

/** Short, so that what is due within one does not reach the hub as a burst that no fleet of agents of their own makes. */
const TICK_MS = 50;
const LOOK_EVERY_TICKS = 50;
/** A longer step of the clock is one in which this process did not come to read. */
const LONGEST_STEP_MS = 500;

export class BeatWheel {
  readonly #slots: Set<Beating>[];
  readonly #timer: NodeJS.Timeout;
  #at = 0;
  #lastMs = monotonicMs();
  #owedMs = 0;
  #clockMs = 0;

  constructor(heartbeatIntervalMs: number) {
    this.#slots = Array.from({ length: Math.round(heartbeatIntervalMs / TICK_MS) }, () => new Set<Beating>());
    this.#timer = setInterval(() => this.#turn(), TICK_MS);
  }

  /** Ms in which this process could hear its peers; to a tick. */
  get clockMs(): number {
    return this.#clockMs;
  }

  /** Its first beat comes after a whole interval. Returns the end of it. */
  add(member: Beating): () => void {
    const slot = this.#slots[this.#at % this.#slots.length];
    slot?.add(member);
    return () => void slot?.delete(member);
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  #turn(): void {
    const nowMs = monotonicMs();
    const passedMs = nowMs - this.#lastMs;
    this.#lastMs = nowMs;
    this.#clockMs += Math.min(passedMs, LONGEST_STEP_MS);
    // After a stall of a whole turn everybody beats once, not twice.
    this.#owedMs = Math.min(this.#owedMs + passedMs, TICK_MS * this.#slots.length);
    for (; this.#owedMs >= TICK_MS; this.#owedMs -= TICK_MS) this.#tick();
  }

  #tick(): void {
    this.#at += 1;
    const count = this.#slots.length;
    for (let slot = this.#at % LOOK_EVERY_TICKS; slot < count; slot += LOOK_EVERY_TICKS) {
      for (const member of this.#slots[slot] ?? []) member.look();
    }
    for (const member of this.#slots[this.#at % count] ?? []) member.beat();
  }
}
