import DataLoader from 'dataloader';
import type { Caller } from '../auth/index.ts';

/**
 * DataLoaders of one request: rows that one answer needs are read together, and never remembered beyond it. A
 * subscription lives long, so there each value is read anew (`keep: false`).
 */
export class Loaders {
  private readonly made = new Map<object, unknown>();
  private readonly answers = new Map<object, Map<string, Promise<unknown>>>();
  private readonly keep: boolean;

  constructor(options: { readonly keep: boolean }) {
    this.keep = options.keep;
  }

  /**
   * What `read` answers to `question`; asked again within one request, it is answered again without reading. In a subscription
   * it is read each time.
   */
  once<T>(owner: object, question: object, read: () => Promise<T>): Promise<T> {
    if (!this.keep) return read();
    const answers = (this.answers.get(owner) ?? new Map()) as Map<string, Promise<T>>;
    this.answers.set(owner, answers);
    const key = JSON.stringify(question);
    const answer = answers.get(key) ?? read();
    answers.set(key, answer);
    return answer;
  }

  /**
   * The loader that `owner` made for this request, or a new one over `readMany`: one answer for each key, in order. An Error
   * among them fails its own key alone.
   */
  get<K, V>(owner: object, readMany: (keys: readonly K[]) => Promise<readonly (V | Error)[]>): DataLoader<K, V> {
    const made = this.made.get(owner) as DataLoader<K, V> | undefined;
    if (made) return made;
    const loader = new DataLoader<K, V>(readMany, { cache: this.keep });
    this.made.set(owner, loader);
    return loader;
  }
}

/** What resolvers get as `@Context(...)`. */
export interface RequestContext {
  readonly requestId: string;
  /** Absent on requests without a valid token: those end before any resolver, see request-guard.ts. */
  readonly caller?: Caller;
  /** Why nobody could be authenticated although a token came, for instance an outage of Postgres. */
  readonly failure?: unknown;
  /** Subscriptions only: the header's value, to be looked at again while the subscription lives. */
  readonly authorization?: unknown;
  readonly loaders: Loaders;
}
