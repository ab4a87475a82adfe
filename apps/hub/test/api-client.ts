/** A client of the public API for medium tests: HTTPS with the hub's CA, a bearer token, graphql-ws. */
import { createClient, type Client } from 'graphql-ws';
import { readFile } from 'node:fs/promises';
import { Agent, fetch } from 'undici';
import WebSocket from 'ws';

import type { TestHub } from './start-test-hub.ts';

export interface ApiAnswer {
  readonly status: number;
  readonly text: string;
  // The shape is the query's own, and tests assert on it.
  readonly data: Json;
  readonly errors: readonly { readonly message: string; readonly extensions: { readonly code: string } }[];
}
/** Any part of an answer; what is missing reads as undefined and fails the assertion on it. */
export interface Json {
  readonly [key: string]: Json;
  readonly [index: number]: Json;
}

export class ApiClient {
  readonly url: string;
  readonly #hub: TestHub;
  readonly #token: string | undefined;
  readonly #dispatcher: Agent;

  constructor(hub: TestHub, token: string | undefined) {
    this.#hub = hub;
    this.#token = token;
    this.url = `${new URL(hub.ready.apiUrl).origin}/graphql`;
    this.#dispatcher = new Agent({ connect: { ca: hub.runtime.tls.caCertificate } });
  }

  static async admin(hub: TestHub): Promise<ApiClient> {
    return new ApiClient(hub, (await readFile(hub.ready.adminTokenFile, 'utf8')).trim());
  }

  /** Any request to /graphql. */
  async send(init: {
    method?: string;
    search?: string;
    headers?: Record<string, string>;
    body?: string;
  }): Promise<ApiAnswer> {
    const response = await fetch(`${this.url}${init.search ?? ''}`, {
      method: init.method ?? 'POST',
      dispatcher: this.#dispatcher,
      headers: { ...(this.#token === undefined ? {} : { authorization: `Bearer ${this.#token}` }), ...init.headers },
      ...(init.body === undefined ? {} : { body: init.body }),
    });
    const text = await response.text();
    const parsed = text.startsWith('{') ? (JSON.parse(text) as Partial<ApiAnswer>) : {};
    return { status: response.status, text, data: parsed.data ?? {}, errors: parsed.errors ?? [] };
  }

  query(query: string, variables: object = {}): Promise<ApiAnswer> {
    const headers = { 'content-type': 'application/json' };
    return this.send({ headers, body: JSON.stringify({ query, variables }) });
  }

  /** The payload of one mutation with one input. Throws on top-level errors. */
  async mutate(name: string, input: object, fields: string): Promise<Json> {
    const type = `${name.slice(0, 1).toUpperCase()}${name.slice(1)}Input`;
    const selected = `${fields} userErrors { code field message retryable memberClusterId changedFields }`;
    const document = `mutation M($input: ${type}!) { ${name}(input: $input) { ${selected} } }`;
    const answer = await this.query(document, { input });
    if (answer.errors.length > 0) throw new Error(answer.text);
    return answer.data[name] as Json;
  }

  /** A WebSocket that subscriptions run over; `close` ends it. */
  socket(params: Record<string, unknown> = { authorization: `Bearer ${this.#token ?? ''}` }): Client {
    const ca = this.#hub.runtime.tls.caCertificate;
    class TrustingSocket extends WebSocket {
      constructor(address: string | URL, protocols?: string | string[]) {
        super(address, protocols, { ca });
      }
    }
    const url = this.url.replace(/^http/, 'ws');
    return createClient({ url, webSocketImpl: TrustingSocket, connectionParams: params, retryAttempts: 0 });
  }

  close(): Promise<void> {
    return this.#dispatcher.destroy();
  }
}
