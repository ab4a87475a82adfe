/**
 * How fast the hub reads one agent's frames: a bucket for each agent of this replica, which outlives its connections, so that
 * one that comes back at once begins with what it had left. What is beyond waits in the agent's own socket; nothing is dropped
 * and no session ends for it. Without it one agent with a valid key takes the event loop from all others.
 */
import type { AgentMessage } from '#protocol';

export interface Bucket {
  readonly tokens: number;
  readonly atMs: number;
}
export interface BucketSize {
  readonly perSecond: number;
  readonly burst: number;
}

/** Tokens. An honest agent of 5,000 objects tells all of them for 500, and changes of some hundred a second for some ten. */
export const FRAMES: BucketSize = { perSecond: 200, burst: 1_000 };
/**
 * Bytes, before a frame is read: one that cannot be read costs as much as any other of its size, and what is stored again and
 * again fills a disk with what was there before. At once: all objects of an agent twice, as after it was away.
 */
export const BYTES: BucketSize = { perSecond: 800 * 1024, burst: 24 * 1024 * 1024 };
/** Hellos of one agent, over its connections. Each may begin with an inventory, which writes a line of the log for every object. */
export const HELLOS: BucketSize = { perSecond: 1, burst: 300 };
/** Frames of a peer before its session: an Enrol is asked again every 15 s. */
export const HANDSHAKES: BucketSize = { perSecond: 1, burst: 10 };
/** Of a frame that changes a key: it is checked, and written at once. */
const KEY_COST = 100;
/** Each item may be a row and a line of the log of changes. */
const ITEMS_PER_TOKEN = 10;

/** What a frame costs, in tokens of FRAMES. */
export function costOf({ type, payload }: AgentMessage): number {
  switch (type) {
    case 'KeyRotation':
      return KEY_COST;
    case 'StatusBatch':
      return 1 + (payload.items.length + (payload.guests?.length ?? 0)) / ITEMS_PER_TOKEN;
    case 'DesiredAck':
      return 1 + payload.outcomes.length / ITEMS_PER_TOKEN;
    case 'EventBatch':
      return 1 + payload.items.length / ITEMS_PER_TOKEN;
    default:
      return 1;
  }
}

/** The bucket after `cost` was taken, and how long that has to wait: until what was taken ahead has come in. */
export function takeTokens(
  bucket: Bucket | undefined,
  { perSecond, burst }: BucketSize,
  { cost, nowMs }: { readonly cost: number; readonly nowMs: number },
): { readonly bucket: Bucket; readonly waitMs: number } {
  const { tokens, atMs } = bucket ?? { tokens: burst, atMs: nowMs };
  const passedMs = Math.max(0, nowMs - atMs);
  const left = Math.min(burst, tokens + (passedMs / 1_000) * perSecond) - cost;
  return { bucket: { tokens: left, atMs: nowMs }, waitMs: left >= 0 ? 0 : Math.ceil((-left / perSecond) * 1_000) };
}

/** Agents that are remembered; beyond it the one that was heard longest ago is forgotten. */
const MAX_REMEMBERED = 20_000;

export class FrameBudgets {
  readonly #size: BucketSize;
  readonly #buckets = new Map<string, Bucket>();

  constructor(size: BucketSize) {
    this.#size = size;
  }

  /** How long this has to wait, in ms; Infinity, and nothing is taken, when that is longer than `patienceMs`. */
  take(key: string, cost: number, nowMs: number, patienceMs = Infinity): number {
    const { bucket, waitMs } = takeTokens(this.#buckets.get(key), this.#size, { cost, nowMs });
    if (waitMs > patienceMs) return Infinity;
    this.#buckets.delete(key);
    this.#buckets.set(key, bucket);
    const [oldest] = this.#buckets.keys();
    if (this.#buckets.size > MAX_REMEMBERED && oldest !== undefined) this.#buckets.delete(oldest);
    return waitMs;
  }
}
