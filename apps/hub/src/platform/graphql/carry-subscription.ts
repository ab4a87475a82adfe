/**
 * An async iterator that ends at once when its consumer leaves. A plain generator that waits for its next value would only
 * notice after that value, and hold its watcher until then; here its signal aborts first.
 */
export function carrySubscription<T>(make: (signal: AbortSignal) => AsyncGenerator<T>): AsyncIterableIterator<T> {
  const abort = new AbortController();
  const inner = make(abort.signal);
  return {
    next: () => inner.next(),
    return: () => {
      abort.abort();
      return inner.return(undefined);
    },
    throw: (error: unknown) => {
      abort.abort();
      return inner.throw(error);
    },
    [Symbol.asyncIterator]() {
      return this;
    },
  };
}
