/**
 * What all replies that are being received may weigh together, over all servers. When it is spent, the connection that holds
 * the most is ended: many servers that each stay just below their own bound cannot take the room of those that answer.
 */
import type { Overrun, ReplyMeter } from './reply-meter.ts';

export const MAX_BYTES_TOGETHER = 32 * 1024 * 1024;

/** A connection as the budget knows it. */
export interface Receiver {
  readonly meter: ReplyMeter;
  overrun(why: Overrun): void;
}

export class ReplyBudget {
  readonly #maxBytes: number;
  readonly #receivers = new Set<Receiver>();

  constructor(maxBytes = MAX_BYTES_TOGETHER) {
    this.#maxBytes = maxBytes;
  }

  get heldBytes(): number {
    let held = 0;
    for (const { meter } of this.#receivers) held += meter.held;
    return held;
  }

  join(receiver: Receiver): void {
    this.#receivers.add(receiver);
  }

  leave(receiver: Receiver): void {
    this.#receivers.delete(receiver);
  }

  /** To be called after bytes were counted; ends connections until the rest fits. */
  enforce(): void {
    while (this.heldBytes > this.#maxBytes) {
      let heaviest: Receiver | undefined;
      for (const receiver of this.#receivers) {
        if (heaviest === undefined || receiver.meter.held > heaviest.meter.held) heaviest = receiver;
      }
      if (heaviest === undefined) return;
      this.leave(heaviest);
      heaviest.overrun('TOGETHER');
    }
  }
}

/** Of this process. */
export const replyBudget = new ReplyBudget();
