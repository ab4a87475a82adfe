/**
 * Collects outcomes until they are told, and tells what has come together before a frame would grow too large, or after half
 * a minute: a snapshot of thousands of objects has more outcomes than one frame holds. Each part is told when the last of its objects has just been
 * written, so that the digest in that ack is about exactly what the hub has been told; otherwise the two would seem to
 * differ, and both sides would be compared for nothing.
 */
import { isReadableHash, isReadableOutcome } from '#protocol';
import type { ObjectOutcome } from '#protocol';
import { isTellableField } from './is-tellable-field.ts';

const MAX_MESSAGE_CHARACTERS = 4_096;
/**
 * A slow API server takes minutes for what fills a part. The hub takes an agent that says nothing for two of them for one that has
 * lost what it was sent, and sends all of it again.
 */
const TELL_WITHIN_MS = 30_000;

export class OutcomeBatch {
  readonly #maxBytes: number;
  readonly #tellPart: (outcomes: readonly ObjectOutcome[]) => void;
  #outcomes: ObjectOutcome[] = [];
  #bytes = 0;
  readonly #monotonicMs: () => number;
  #toldAtMs: number;

  /** `maxFrameBytes`: of the session. */
  constructor(
    maxFrameBytes: number,
    tellPart: (outcomes: readonly ObjectOutcome[]) => void,
    monotonicMs: () => number,
  ) {
    this.#maxBytes = maxFrameBytes / 4;
    this.#tellPart = tellPart;
    this.#monotonicMs = monotonicMs;
    this.#toldAtMs = monotonicMs();
  }

  add(outcome: ObjectOutcome): void {
    const readable = isReadableOutcome(outcome) ? outcome : leaveOutUnreadable(outcome);
    const fitted = sizeOf(readable) > 2 * this.#maxBytes ? shorten(readable) : readable;
    this.#outcomes.push(fitted);
    this.#bytes += sizeOf(fitted);
    const isLate = this.#monotonicMs() - this.#toldAtMs >= TELL_WITHIN_MS;
    if (isLate || this.#bytes > this.#maxBytes) this.#tellPart(this.take());
  }

  /** What was not told yet; the caller tells it. */
  take(): ObjectOutcome[] {
    const taken = this.#outcomes;
    this.#outcomes = [];
    this.#bytes = 0;
    this.#toldAtMs = this.#monotonicMs();
    return taken;
  }
}

const sizeOf = (outcome: ObjectOutcome): number => Buffer.byteLength(JSON.stringify(outcome), 'utf8') + 1;

function shorten({ contested, message, ...outcome }: ObjectOutcome): ObjectOutcome {
  return {
    ...outcome,
    ...(message === undefined ? {} : { message: message.slice(0, MAX_MESSAGE_CHARACTERS) }),
    ...(contested === undefined ? {} : { contested: contested.filter(isTellableField) }),
  };
}

/** People write what is told here: a hash into an annotation, a name of thousands of characters into a spec. */
function leaveOutUnreadable({ specHash, contested, ...outcome }: ObjectOutcome): ObjectOutcome {
  return {
    ...shorten(outcome),
    ...(specHash !== undefined && isReadableHash(specHash) ? { specHash } : {}),
    ...(contested === undefined ? {} : { contested: contested.filter(isTellableField) }),
  };
}
