/**
 * How many subscriptions one WebSocket carries, and that none outlives it. Each holds a watcher and looks at its token every
 * second; without a bound one client on one connection could begin as many as it likes. Mercurius forgets a subscription
 * whose id is used a second time on its connection, and keeps what it made for one that failed to begin: so each is ended here
 * with its socket, and a socket on which too many never came to an end is cut.
 */
import type { Duplex } from 'node:stream';
import { ApiError } from './api-error.ts';
import type { RequestContext } from './request-context.ts';

/** As many as the largest page of a list has rows. */
export const MAX_SUBSCRIPTIONS = 100;
/** Asked for and not ended, those that were refused among them. */
const MAX_UNENDED = 2 * MAX_SUBSCRIPTIONS;

interface Carried {
  unended: number;
  readonly ends: Set<() => void>;
}
const sockets = new WeakMap<Duplex, Carried>();

function carriedBy(socket: Duplex): Carried {
  const known = sockets.get(socket);
  if (known) return known;
  const carried: Carried = { unended: 0, ends: new Set() };
  sockets.set(socket, carried);
  socket.once('close', () => {
    for (const end of carried.ends) end();
  });
  return carried;
}

/** Somebody asks for a subscription here. */
export function noteSubscription(socket: Duplex): void {
  const carried = carriedBy(socket);
  carried.unended += 1;
  if (carried.unended > MAX_UNENDED) socket.destroy();
}

/**
 * An async iterator that ends at once when its consumer leaves, or its socket. A plain generator that waits for its next
 * value would only notice after that value; here its signal aborts first. Throws ApiError TOO_MANY_SUBSCRIPTIONS.
 */
export function carrySubscription<T>(
  { request }: Pick<RequestContext, 'request'>,
  make: (signal: AbortSignal) => AsyncGenerator<T>,
): AsyncIterableIterator<T> {
  const carried = request ? carriedBy(request.raw.socket) : { unended: 1, ends: new Set<() => void>() };
  if (carried.ends.size >= MAX_SUBSCRIPTIONS) {
    const message = `A WebSocket carries at most ${MAX_SUBSCRIPTIONS} subscriptions. End one of them, or open another WebSocket.`;
    throw new ApiError('TOO_MANY_SUBSCRIPTIONS', message);
  }
  const abort = new AbortController();
  const inner = make(abort.signal);
  const release = (): void => {
    if (carried.ends.delete(end)) carried.unended -= 1;
  };
  const end = (): void => {
    release();
    abort.abort();
    void inner.return(undefined).catch(() => undefined);
  };
  carried.ends.add(end);
  return {
    next: async () => {
      const result = await inner.next().catch((error: unknown) => {
        release();
        throw error;
      });
      if (result.done) release();
      return result;
    },
    return: () => {
      release();
      abort.abort();
      return inner.return(undefined);
    },
    throw: (error: unknown) => {
      release();
      abort.abort();
      return inner.throw(error);
    },
    [Symbol.asyncIterator]() {
      return this;
    },
  };
}
