import { readFileSync } from 'node:fs';
import { createClient } from 'graphql-ws';
import { Agent, fetch } from 'undici';
import WebSocket from 'ws';

export interface GraphqlClientOptions {
  /** `https://host:port/graphql`. */
  readonly url: string;
  readonly caFile: string;
  readonly token: string;
}

interface GraphqlAnswer<T> {
  readonly data?: T | null;
  readonly errors?: readonly { readonly message: string; readonly extensions?: Readonly<Record<string, unknown>> }[];
}

/** A top-level GraphQL error: authentication, cost, syntax or outage. Expected failures are `userErrors` in the data. */
export class GraphqlError extends Error {
  readonly codes: readonly unknown[];
  constructor(errors: NonNullable<GraphqlAnswer<unknown>['errors']>) {
    super(errors.map((each) => each.message).join('; '));
    this.codes = errors.map((each) => each.extensions?.['code']);
  }
}

/** A client of the public API as any user would write one: HTTPS with the hub's CA, a bearer token, graphql-ws. */
export class GraphqlClient {
  readonly #options: GraphqlClientOptions;
  readonly #ca: string;
  readonly #dispatcher: Agent;

  constructor(options: GraphqlClientOptions) {
    this.#options = options;
    this.#ca = readFileSync(options.caFile, 'utf8');
    this.#dispatcher = new Agent({ connect: { ca: this.#ca } });
  }

  /** Answers the text of the response too, so that a test can search it for what must not be there. */
  async requestText(query: string, variables: Readonly<Record<string, unknown>> = {}): Promise<string> {
    const response = await fetch(this.#options.url, {
      method: 'POST',
      dispatcher: this.#dispatcher,
      headers: { 'content-type': 'application/json', authorization: `Bearer ${this.#options.token}` },
      body: JSON.stringify({ query, variables }),
      signal: AbortSignal.timeout(30_000),
    });
    return response.text();
  }

  async request<T>(query: string, variables: Readonly<Record<string, unknown>> = {}): Promise<T> {
    const text = await this.requestText(query, variables);
    const answer = JSON.parse(text) as GraphqlAnswer<T>;
    if (answer.errors && answer.errors.length > 0) throw new GraphqlError(answer.errors);
    if (answer.data === undefined || answer.data === null)
      throw new Error(`the answer has no data: ${text.slice(0, 500)}`);
    return answer.data;
  }

  /** Values of one subscription, until the consumer leaves the loop or `signal` ends it. */
  async *subscribe<T>(
    query: string,
    variables: Readonly<Record<string, unknown>>,
    signal: AbortSignal,
  ): AsyncGenerator<T> {
    const ca = this.#ca;
    class TrustingSocket extends WebSocket {
      constructor(address: string | URL, protocols?: string | string[]) {
        super(address, protocols, { ca });
      }
    }
    const client = createClient({
      url: this.#options.url.replace(/^http/, 'ws'),
      webSocketImpl: TrustingSocket,
      connectionParams: { authorization: `Bearer ${this.#options.token}` },
      retryAttempts: 0,
    });
    const values = client.iterate<T>({ query, variables });
    const stop = (): void => void client.dispose();
    signal.addEventListener('abort', stop, { once: true });
    try {
      for await (const value of values) {
        if (value.errors) throw new GraphqlError(value.errors.map((each) => ({ message: each.message })));
        if (value.data) yield value.data;
      }
    } finally {
      signal.removeEventListener('abort', stop);
      await client.dispose();
    }
  }

  async close(): Promise<void> {
    await this.#dispatcher.destroy();
  }
}
