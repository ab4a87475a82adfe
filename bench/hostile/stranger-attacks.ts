/** What one stranger does: somebody who reaches the ports of the hub and has no token. Each ends when the hub ends it. */
import { readFileSync } from 'node:fs';
import { connect as connectTcp, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { connect as connectTls } from 'node:tls';
import WebSocket from 'ws';
import type { HubProcess } from '../../tools/fleet/hub-process.ts';

export interface Attack {
  readonly name: string;
  /** Resolves when the hub has ended it, or has answered all of it. */
  readonly run: (hub: HubProcess) => Promise<void>;
}

/** The hub ends what is silent after 30 s at the latest. */
const PATIENCE_MS = 40_000;
const MEGABYTE = 'x'.repeat(1024 * 1024);
const WRONG = 'Authorization: Bearer a-token-that-nobody-has';

const untilClosed = (socket: Socket | WebSocket): Promise<unknown> => {
  const closed = new Promise((done) => {
    socket.once('close', done);
    socket.on('error', () => undefined);
  });
  return Promise.race([closed, sleep(PATIENCE_MS, undefined, { ref: false })]);
};

function openTls(hub: HubProcess): Socket {
  const { hostname, port } = new URL(hub.apiUrl);
  return connectTls({ host: hostname, port: Number(port), ca: readFileSync(hub.caFile) }).resume();
}

/** Sends it over TLS as it is. */
const send =
  (...lines: string[]) =>
  async (hub: HubProcess): Promise<void> => {
    const socket = openTls(hub);
    socket.write(lines.join('\r\n'));
    await untilClosed(socket);
    socket.destroy();
  };

/** Sends text frames over a WebSocket, each when the one before has gone, so that the attacker needs little memory itself. */
async function sayOn(socket: WebSocket, messages: readonly string[]): Promise<void> {
  const gone = untilClosed(socket);
  await new Promise((done) => socket.once('open', done).once('close', done));
  for (const message of messages) {
    if (socket.readyState !== socket.OPEN) break;
    await new Promise((done) => socket.send(message, done));
  }
  await gone;
  socket.terminate();
}

const say =
  (...messages: readonly string[]) =>
  (hub: HubProcess): Promise<void> => {
    const url = `${hub.apiUrl.replace(/^http/, 'ws')}/graphql`;
    return sayOn(new WebSocket(url, 'graphql-transport-ws', { ca: readFileSync(hub.caFile) }), messages);
  };

const sayToAgentsPort =
  (...messages: readonly string[]) =>
  (hub: HubProcess): Promise<void> =>
    sayOn(new WebSocket(`wss://${hub.agentAddress}/agent/v1`, 'atoll.v1', { ca: readFileSync(hub.caFile) }), messages);

const post = (path: string, length: number | string): string[] => [
  `POST ${path} HTTP/1.1`,
  'Host: hub',
  'Content-Type: application/json',
  WRONG,
  `Content-Length: ${length}`,
  '',
];
const init = JSON.stringify({
  type: 'connection_init',
  payload: { authorization: 'Bearer a-token-that-nobody-has' },
});
const subscribe = JSON.stringify({
  id: '1',
  type: 'subscribe',
  payload: { query: `subscription { ${'a '.repeat(500_000)} }` },
});
const event = (counter: number): string =>
  JSON.stringify({ type: 'EventBatch', nonce: `n${counter}`, payload: { counter, items: [] } });

export const ATTACKS: readonly Attack[] = [
  { name: '20 subscriptions of 1 MB', run: say(...Array.from({ length: 20 }, () => subscribe)) },
  { name: '1,000 connection_init', run: say(...Array.from({ length: 1_000 }, () => init)) },
  { name: 'a WebSocket that says nothing', run: say() },
  { name: 'a connection that says nothing', run: silent },
  { name: 'TLS that says nothing', run: send('') },
  { name: 'a head that never ends', run: send('GET / HTTP/1.1', 'Host: hub', 'X: ') },
  { name: 'a query of 1 MB', run: send(...post('/graphql', MEGABYTE.length), MEGABYTE) },
  { name: '1 MB to a path that does not exist', run: send(...post('/nope', MEGABYTE.length), MEGABYTE) },
  {
    name: '1,000 queries in one packet',
    run: send(
      Array(1_000)
        .fill(`${post('/graphql', 2).join('\r\n')}\r\n{}`)
        .join(''),
    ),
  },
  {
    name: '10,000 messages to the agents port',
    run: sayToAgentsPort(...Array.from({ length: 10_000 }, (_, counter) => event(counter))),
  },
];

async function silent(hub: HubProcess): Promise<void> {
  const { hostname, port } = new URL(hub.apiUrl);
  const socket = connectTcp(Number(port), hostname).resume();
  await untilClosed(socket);
  socket.destroy();
}
