/**
 * When a session's next frame above what is allowed may be read: one in so many seconds. Old agents send such frames, and a
 * hub reads what it can of them, which takes it as long as hundreds of others; an agent that did nothing else would have the
 * hub to itself. The frame waits, and all that this agent sends behind it, in its own socket. It is neither dropped nor
 * does it end the session: an old agent with two large objects would come back and send both again, for ever.
 */
import { type FrameData, MAX_FRAME_BYTES } from '#protocol';

const PAUSE_MS = 5_000;

export const bytesOf = (data: FrameData): number =>
  typeof data === 'string' ? Buffer.byteLength(data, 'utf8') : data.byteLength;

export interface LargeFrameParts {
  readonly monotonicMs: () => number;
  /** The frame waits so long from now. */
  readonly onWait: (pauseMs: number) => void;
}

export class LargeFrameTurn {
  readonly #parts: LargeFrameParts;
  readonly #closed = Promise.withResolvers<void>();
  #nextAtMs = -Infinity;

  constructor(parts: LargeFrameParts) {
    this.#parts = parts;
  }

  /** Resolves when the frame may be read, or after `close`. */
  async take(data: FrameData): Promise<void> {
    if (bytesOf(data) <= MAX_FRAME_BYTES) return;
    const pauseMs = Math.ceil(this.#nextAtMs - this.#parts.monotonicMs());
    if (pauseMs > 0) await this.#wait(pauseMs);
    this.#nextAtMs = this.#parts.monotonicMs() + PAUSE_MS;
  }

  /** What waits, waits no longer. */
  close(): void {
    this.#closed.resolve();
  }

  async #wait(pauseMs: number): Promise<void> {
    this.#parts.onWait(pauseMs);
    let timer: NodeJS.Timeout | undefined;
    const due = new Promise<void>((done) => (timer = setTimeout(done, pauseMs)));
    await Promise.race([due, this.#closed.promise]);
    clearTimeout(timer);
  }
}
