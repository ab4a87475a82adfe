/**
 * The frames of one socket, worked off one after the other. While many wait, or much, the socket is not read: what is not
 * read waits at the sender, not in this process.
 */
import { type FrameData, MAX_FRAME_BYTES } from '#protocol';

import type { AgentPeer } from '../admission/agent-peer.ts';

const MAX_WAITING_FRAMES = 32;
const MAX_WAITING_BYTES = 4 * MAX_FRAME_BYTES;

export interface FrameQueueParts {
  readonly peer: AgentPeer;
  readonly work: (data: FrameData) => Promise<void>;
  readonly onFailure: (error: unknown) => void;
}

export class FrameQueue {
  readonly #parts: FrameQueueParts;
  #chain: Promise<void> = Promise.resolve();
  #waiting = 0;
  #waitingBytes = 0;

  constructor(parts: FrameQueueParts) {
    this.#parts = parts;
  }

  /** Resolves when all that came is worked off. */
  get idle(): Promise<void> {
    return this.#chain;
  }

  add(data: FrameData): void {
    const { peer, work, onFailure } = this.#parts;
    this.#waiting += 1;
    this.#waitingBytes += data.length;
    if (this.#waiting >= MAX_WAITING_FRAMES || this.#waitingBytes >= MAX_WAITING_BYTES) peer.pause();
    this.#chain = this.#chain
      .then(() => work(data))
      .catch(onFailure)
      .then(() => {
        this.#waiting -= 1;
        this.#waitingBytes -= data.length;
        const isEasy = this.#waiting <= MAX_WAITING_FRAMES / 2 && this.#waitingBytes <= MAX_WAITING_BYTES / 2;
        if (isEasy) peer.resume();
      });
  }
}
