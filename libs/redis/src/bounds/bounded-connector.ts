/** How ioredis dials: the socket counts what arrives before the parser sees it, and ends where a bound is passed. */
import { Socket } from 'node:net';
import { AbstractConnector, type RedisOptions } from 'ioredis';
import { DEFAULT_CONNECT_TIMEOUT_MS } from '../link-options.ts';
import type { Receiver, ReplyBudget } from './reply-budget.ts';
import type { Overrun, ReplyMeter } from './reply-meter.ts';
import { TOO_LARGE_CODE } from './too-large-code.ts';

/** What ioredis needs so that its connection is counted by this meter. */
export const boundedBy = (meter: ReplyMeter, budget: ReplyBudget): Required<Pick<RedisOptions, 'Connector'>> => ({
  Connector: class BoundedConnector extends AbstractConnector {
    readonly #target: RedisOptions;

    constructor(target: unknown) {
      super(DEFAULT_CONNECT_TIMEOUT_MS);
      this.#target = target as RedisOptions;
    }

    connect(): Promise<Socket> {
      this.connecting = true;
      const { host = '', port = 0 } = this.#target;
      const socket = new BoundedSocket(meter, budget);
      this.stream = socket;
      socket.connect({ host, port });
      return Promise.resolve(socket);
    }
  },
});

class BoundedSocket extends Socket implements Receiver {
  readonly meter: ReplyMeter;
  readonly #budget: ReplyBudget;

  constructor(meter: ReplyMeter, budget: ReplyBudget) {
    super();
    this.meter = meter;
    this.#budget = budget;
    budget.join(this);
    this.once('close', () => budget.leave(this));
  }

  /** Where the stream takes what the kernel read: what is refused here reaches nobody. */
  override push(chunk: unknown, encoding?: BufferEncoding): boolean {
    if (chunk instanceof Uint8Array) {
      const why = this.meter.take(chunk);
      if (why === undefined) this.#budget.enforce();
      else this.overrun(why);
      if (this.destroyed) return false;
    }
    return super.push(chunk, encoding);
  }

  overrun(why: Overrun): void {
    this.destroy(Object.assign(new Error(`the answers are too large: ${why}`), { code: TOO_LARGE_CODE }));
  }
}
