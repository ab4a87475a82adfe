/**
 * Whether what a server sends is still an answer. Decided from the frames of RESP alone, before anything is parsed: the
 * weight of one reply, what is declared to come, and what nobody asked for. A tenant may run any image; without this bound
 * one answer that never ends takes the memory of the agent, and with it the care for every other data set.
 * ioredis has no option for it, and its parser keeps an unfinished reply for as long as bytes arrive.
 */
export type Overrun =
  /** Heavier than a reply may be, or declared to become so. */
  | 'REPLY'
  /** Before the login. */
  | 'BEFORE_AUTH'
  /** Messages that answer no command. */
  | 'UNASKED'
  /** No RESP. */
  | 'MALFORMED'
  /** All replies that are being received together. */
  | 'TOGETHER';

export const MAX_REPLY_BYTES = 1024 * 1024;
export const MAX_BYTES_BEFORE_AUTH = 64 * 1024;
export const MAX_UNASKED_BYTES = 256 * 1024;
/** What an element costs in memory besides its bytes: an array of empty arrays is four bytes each on the wire. */
export const ELEMENT_WEIGHT = 64;
const MAX_DEPTH = 16;
/** A length or count has at most 20 characters. */
const MAX_HEAD = 24;

const LF = 10;
const PLAIN = '+-:_#,(';
const BULK = '$!=';
const AGGREGATE = '*~>|%';

export class ReplyMeter {
  /** Weight of what arrived and is not settled: replies under way and those of a call that goes on. */
  held = 0;
  #maxReplyBytes = MAX_REPLY_BYTES;
  #authenticated = false;
  #received = 0;
  #unasked = 0;
  /** Replies that are still due. */
  #expected = 0;
  #weight = 0;
  #skip = 0;
  #head = '';
  #push = false;
  /** Elements that are still to come, of each list that is open. */
  readonly #open: number[] = [];

  /** The login went well: replies may be as long as replies are. */
  authenticated(): void {
    this.#authenticated = true;
    this.#unasked = 0;
  }

  /** So many commands are sent, with answers of at most so many bytes: what came unasked until now is forgiven. */
  asked(commands: number, maxReplyBytes = MAX_REPLY_BYTES): void {
    this.#unasked = 0;
    this.#expected += commands;
    this.#maxReplyBytes = Math.max(this.#maxReplyBytes, maxReplyBytes);
  }

  /** No call is under way any more: only an unfinished reply is still held. */
  settle(): void {
    this.held = this.#weight;
    this.#maxReplyBytes = MAX_REPLY_BYTES;
  }

  /** Counts these bytes; undefined while all is well. */
  take(chunk: Uint8Array): Overrun | undefined {
    this.#received += chunk.length;
    if (!this.#authenticated && this.#received > MAX_BYTES_BEFORE_AUTH) return 'BEFORE_AUTH';
    for (let at = 0; at < chunk.length;) {
      const end = this.#skip > 0 ? Math.min(chunk.length, at + this.#skip) : endOfLine(chunk, at);
      const overrun = this.#weigh(end - at) ?? this.#step(chunk, at, end);
      if (overrun !== undefined) return overrun;
      at = end;
    }
    return undefined;
  }

  #weigh(more: number): Overrun | undefined {
    this.#weight += more;
    this.held += more;
    return this.#weight > this.#maxReplyBytes ? 'REPLY' : undefined;
  }

  #step(chunk: Uint8Array, at: number, end: number): Overrun | undefined {
    if (this.#skip > 0) {
      this.#skip -= end - at;
      return this.#skip === 0 ? this.#ended() : undefined;
    }
    if (this.#head.length < MAX_HEAD) {
      const take = Math.min(end, at + MAX_HEAD - this.#head.length);
      this.#head += Buffer.from(chunk.buffer, chunk.byteOffset + at, take - at).toString('latin1');
    }
    if (chunk[end - 1] !== LF) return undefined;
    const head = this.#head;
    this.#head = '';
    return this.#begin(head.charAt(0), head.slice(1).trimEnd());
  }

  #begin(type: string, text: string): Overrun | undefined {
    if (PLAIN.includes(type) && type !== '') return this.#ended();
    const count = /^(?:-1|\d{1,15})$/.test(text) ? Number(text) : undefined;
    if (count === undefined || type === '') return 'MALFORMED';
    if (count === -1) return this.#ended();
    if (BULK.includes(type)) {
      this.#skip = count + 2;
      return this.#weight + count > this.#maxReplyBytes ? 'REPLY' : undefined;
    }
    return AGGREGATE.includes(type) ? this.#list(type, count) : 'MALFORMED';
  }

  #list(type: string, count: number): Overrun | undefined {
    if (this.#open.length === 0) this.#push = type === '>';
    // An attribute stands before the value that it belongs to.
    const elements = type === '%' ? count * 2 : type === '|' ? count * 2 + 1 : count;
    const overrun = this.#weigh(ELEMENT_WEIGHT * (elements + 1));
    if (overrun !== undefined) return overrun;
    if (elements === 0) return this.#ended();
    this.#open.push(elements);
    return this.#open.length > MAX_DEPTH ? 'REPLY' : undefined;
  }

  /** One value is complete, and with it perhaps the lists that it was the last of. */
  #ended(): Overrun | undefined {
    while (this.#open.length > 0) {
      const left = (this.#open.pop() ?? 1) - 1;
      if (left > 0) {
        this.#open.push(left);
        return undefined;
      }
    }
    if (this.#push || this.#expected === 0) this.#unasked += this.#weight;
    else this.#expected -= 1;
    this.#push = false;
    this.#weight = 0;
    return this.#unasked > MAX_UNASKED_BYTES ? 'UNASKED' : undefined;
  }
}

const endOfLine = (chunk: Uint8Array, from: number): number => {
  const found = chunk.indexOf(LF, from);
  return found === -1 ? chunk.length : found + 1;
};
