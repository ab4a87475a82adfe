/**
 * Lets the frames of one connection through at the pace of frame-budget.ts: those of a session by their agent, those before
 * it by the connection. A frame that is early waits, and all behind it, in the socket of whoever sent it.
 */
import type { AgentMessage, FrameData } from '#protocol';

import { type Bucket, costOf, type FrameBudgets, HANDSHAKES, takeTokens } from './frame-budget.ts';
import { bytesOf } from './large-frame-turn.ts';
import type { LinkParts } from './link-parts.ts';

export type FramePaceParts = Pick<LinkParts, 'frameBudgets' | 'byteBudgets' | 'overLimit' | 'clock'>;

export class FramePace {
  readonly #parts: FramePaceParts;
  readonly #closed = Promise.withResolvers<void>();
  #handshakes: Bucket | undefined;

  constructor(parts: FramePaceParts) {
    this.#parts = parts;
  }

  /** Resolves when a frame of this size may be read, or after `close`. Before a session frames are few and small anyway. */
  async takeBytes(data: FrameData, agentId: string): Promise<void> {
    await this.#wait(this.#takeOf(this.#parts.byteBudgets, agentId, bytesOf(data)));
  }

  /** Resolves when the frame may be worked on, or after `close`. */
  async take(message: AgentMessage, agentId: string | undefined): Promise<void> {
    const { frameBudgets } = this.#parts;
    const cost = costOf(message);
    await this.#wait(agentId === undefined ? this.#takeHandshake() : this.#takeOf(frameBudgets, agentId, cost));
  }

  async #wait(waitMs: number): Promise<void> {
    if (waitMs <= 0) return;
    let timer: NodeJS.Timeout | undefined;
    const due = new Promise<void>((done) => (timer = setTimeout(done, waitMs)));
    await Promise.race([due, this.#closed.promise]);
    clearTimeout(timer);
  }

  /** What waits, waits no longer. */
  close(): void {
    this.#closed.resolve();
  }

  #takeHandshake(): number {
    const { bucket, waitMs } = takeTokens(this.#handshakes, HANDSHAKES, {
      cost: 1,
      nowMs: this.#parts.clock.monotonicMs(),
    });
    this.#handshakes = bucket;
    return waitMs;
  }

  #takeOf(budgets: FrameBudgets, agentId: string, cost: number): number {
    const { overLimit, clock } = this.#parts;
    const waitMs = budgets.take(agentId, cost, clock.monotonicMs());
    if (waitMs > 0) overLimit.note(agentId, 'FRAMES');
    return waitMs;
  }
}
