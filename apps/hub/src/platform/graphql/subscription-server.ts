/**
 * Subscriptions: the WebSocket of the API, with the server of graphql-ws over it. The token comes in the first frame
 * (connectionParams), or in a header of the handshake. Documents have the limits of HTTP, and errors its formatter.
 */
import { type BeforeApplicationShutdown, Inject, Injectable } from '@nestjs/common';
import { GraphQLSchemaHost } from '@nestjs/graphql';
import type { ExecutionArgs, ExecutionResult, GraphQLError } from 'graphql';
import { type Context, GRAPHQL_TRANSPORT_WS_PROTOCOL, makeServer, type SubscribePayload } from 'graphql-ws';
import type { IncomingMessage } from 'node:http';
import type { Server } from 'node:net';
import type { BlockList } from 'node:net';
import type { Duplex } from 'node:stream';
import type { Logger } from 'pino';
import { type WebSocket, WebSocketServer } from 'ws';

import { AuthenticationService, clientAddressOf, TooManyUnknownTokens, trustProxies } from '../auth/index.ts';
import type { HubConfig } from '../config/hub-config.ts';
import { GRAPHQL_PATH } from '../connections/api-server.ts';
import { refuseUpgrade } from '../connections/refuse-upgrade.ts';
import { markKnown } from '../connections/watch-strangers.ts';
import { CONFIG, LOG, Readiness } from '../lifecycle/hub-runtime.ts';
import { IDS, type IdSource } from '../lifecycle/time-and-ids.ts';
import { ApiError } from './api-error.ts';
import { asGraphQLError, beginSubscription, type Begun } from './begin-subscription.ts';
import { makeErrorFormatter } from './error-formatter.ts';
import { readSocketContext } from './read-http-context.ts';
import type { RequestContext } from './request-context.ts';
import { CLOSE, SubscriptionPeer } from './subscription-peer.ts';

const FIRST_FRAME_MS = 10_000;
/** In ms, for a peer that does not answer a close frame. `ws` takes it, its types do not name it. */
const CLOSES_WITHIN = { closeTimeout: 1_000 };
const MAX_FRAME_BYTES = 64 * 1024;
/** Clients send each message as one frame. Of fragments each costs far more here than the byte that it may bring. */
const MAX_FRAGMENTS = 32;
/** Reads that one frame may come in. */
const MAX_CHUNKS = 1_024;
/** As many as the largest page of a list has rows. Each holds a watcher and looks at its token every second. */
const MAX_SUBSCRIPTIONS = 100;

interface Extra {
  readonly peer: SubscriptionPeer;
  readonly wire: Duplex;
  readonly header: string | undefined;
  /** Where it comes from. */
  readonly address: string | undefined;
  context: RequestContext;
}
type Connection = Context<Record<string, unknown>, Extra>;

@Injectable()
export class SubscriptionServer implements BeforeApplicationShutdown {
  readonly #log: Logger;
  readonly #trusted: BlockList;
  readonly #format: ReturnType<typeof makeErrorFormatter>;
  readonly #webSockets = new WebSocketServer({
    ...CLOSES_WITHIN,
    noServer: true,
    maxPayload: MAX_FRAME_BYTES,
    maxFragments: MAX_FRAGMENTS,
    maxBufferedChunks: MAX_CHUNKS,
    perMessageDeflate: false,
    // Answered by SubscriptionPeer, which looks how much waits unread.
    autoPong: false,
    handleProtocols: (offered) => (offered.has(GRAPHQL_TRANSPORT_WS_PROTOCOL) ? GRAPHQL_TRANSPORT_WS_PROTOCOL : false),
  });
  readonly #protocol = makeServer<Record<string, unknown>, Extra>({
    connectionInitWaitTimeout: FIRST_FRAME_MS,
    jsonMessageReviver: refusePrototype,
    onConnect: (connection) => connection.extra.peer.hold(this.#admit(connection)),
    onPing: ({ acknowledged, extra }) => (acknowledged ? undefined : extra.peer.close(CLOSE.forbidden, 'Forbidden')),
    onSubscribe: (connection, _, payload) => connection.extra.peer.hold(this.#begin(connection, payload)),
    subscribe: (args) => (args as Begun).values as AsyncGenerator<ExecutionResult>,
    onNext: ({ extra }, _id, _payload, _args, result) =>
      result.errors ? (this.#format(result as ExecutionResult, extra.context).response as never) : undefined,
    onError: ({ extra }, _id, _payload, errors) => this.#format({ errors }, extra.context).response.errors as never,
  });

  constructor(
    @Inject(GraphQLSchemaHost) private readonly schemaHost: GraphQLSchemaHost,
    @Inject(AuthenticationService) private readonly authentication: AuthenticationService,
    @Inject(Readiness) private readonly readiness: Readiness,
    @Inject(IDS) private readonly ids: IdSource,
    @Inject(CONFIG) config: HubConfig,
    @Inject(LOG) log: Logger,
  ) {
    this.#trusted = trustProxies(config.trustedProxies ?? []);
    this.#log = log.child({ part: 'subscriptions' });
    this.#format = makeErrorFormatter(this.#log);
  }

  /** Takes over the upgrades of the listener of the API. */
  attach(server: Server): void {
    this.#webSockets.on('wsClientError', (_, wire) => refuseUpgrade(wire, 400));
    server.on('upgrade', (request, socket, head) => this.#upgrade(request, socket, head));
  }

  /** Clients come back to another replica. Without it the listener would wait for them for ever. */
  async beforeApplicationShutdown(): Promise<void> {
    const closed = [...this.#webSockets.clients].map((socket) => new Promise((done) => socket.once('close', done)));
    for (const socket of this.#webSockets.clients) {
      socket.resume();
      socket.close(CLOSE.restart, 'The hub stops');
    }
    await Promise.all(closed);
  }

  #upgrade(request: IncomingMessage, wire: Duplex, head: Buffer): void {
    wire.on('error', () => undefined);
    if (this.readiness.draining) return refuseUpgrade(wire, 503);
    // Not by URL: that throws for a target like "//", and what is thrown here ends the process.
    if (request.url?.split('?')[0] !== GRAPHQL_PATH) return refuseUpgrade(wire, 404);
    this.#webSockets.handleUpgrade(request, wire, head, (socket) => this.#open(socket, wire, request));
  }

  #open(socket: WebSocket, wire: Duplex, { headers, socket: { remoteAddress } }: IncomingMessage): void {
    const mayStay = async (): Promise<boolean> => {
      const { caller, failure } = await this.#identify(extra);
      // While nobody can look, nobody is sent away.
      return caller !== undefined || failure !== undefined;
    };
    const onFailure = (err: unknown): void => this.#log.error({ err }, 'a frame of a subscriber failed');
    const peer = new SubscriptionPeer(socket, wire, { mayStay, onFailure });
    const context = { requestId: this.ids.newId() } as RequestContext;
    const address = clientAddressOf({ remoteAddress, forwardedFor: headers['x-forwarded-for'] }, this.#trusted);
    const extra: Extra = { peer, wire, header: headers.authorization, address, context };
    const closed = this.#protocol.opened(peer, extra);
    socket.once('close', () => closed().catch(onFailure));
  }

  /** False: closed with 4403. */
  async #admit({ extra, connectionParams: params }: Connection): Promise<boolean> {
    const authorization = params?.['authorization'] ?? params?.['Authorization'] ?? extra.header;
    extra.context = { ...extra.context, authorization };
    const { caller, failure } = await this.#identify(extra);
    if (failure !== undefined) extra.peer.close(CLOSE.tryLater, reasonOf(failure));
    if (!caller) return false;
    markKnown(extra.wire);
    extra.peer.welcome();
    return true;
  }

  /** The token may have been revoked since it was last looked at. */
  async #identify(extra: Extra): Promise<RequestContext> {
    const { authorization, requestId } = extra.context;
    const given = { authorization, address: extra.address };
    extra.context = await readSocketContext(given, requestId, this.authentication);
    return extra.context;
  }

  async #begin(connection: Connection, payload: SubscribePayload): Promise<ExecutionArgs | readonly GraphQLError[]> {
    // The one that begins is among them.
    if (Object.keys(connection.subscriptions).length > MAX_SUBSCRIPTIONS) return [asGraphQLError(tooMany())];
    const context = await this.#identify(connection.extra);
    return beginSubscription(this.schemaHost.schema, context, payload);
  }
}

const reasonOf = (failure: unknown): string =>
  failure instanceof TooManyUnknownTokens
    ? 'Too many unknown tokens from this address'
    : 'The database does not answer';

const tooMany = (): ApiError =>
  new ApiError(
    'TOO_MANY_SUBSCRIPTIONS',
    `A WebSocket carries at most ${MAX_SUBSCRIPTIONS} subscriptions. End one of them, or open another WebSocket.`,
  );

/** As Fastify does for the bodies of requests. */
function refusePrototype(key: string, value: unknown): unknown {
  if (key === '__proto__') throw new Error('a message with the key __proto__');
  return value;
}
