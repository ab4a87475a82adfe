/**
 * The timers of all agents as one: a heartbeat every 15 s, a look at the peer's silence every 2.5 s. Thousands of timers of
 * their own would make the simulator dearer than the hub that it shares the machine with.
 */
export interface Beating {
  beat(): void;
  look(): void;
}

const TICK_MS = 250;
const LOOK_EVERY_TICKS = 10;

export class BeatWheel {
  readonly #slots: Set<Beating>[];
  #at = 0;
  readonly #timer: NodeJS.Timeout;

  constructor(heartbeatIntervalMs: number) {
    this.#slots = Array.from({ length: Math.round(heartbeatIntervalMs / TICK_MS) }, () => new Set<Beating>());
    this.#timer = setInterval(() => this.#tick(), TICK_MS);
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

  #tick(): void {
    this.#at += 1;
    const count = this.#slots.length;
    for (let slot = this.#at % LOOK_EVERY_TICKS; slot < count; slot += LOOK_EVERY_TICKS) {
      for (const member of this.#slots[slot] ?? []) member.look();
    }
    for (const member of this.#slots[this.#at % count] ?? []) member.beat();
  }
}
