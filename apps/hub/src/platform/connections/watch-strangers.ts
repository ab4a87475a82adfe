/**
 * Connections of the API that no valid token has come on yet. Anyone can open them, so they are so many at most
 * (unknown-peers.ts), and none stays for long: not one that never ends its TLS handshake, not one that asks again and again
 * without a token, not one that was upgraded and then says nothing. Node's own limits count from request to request, and
 * end with an upgrade. A connection stays once a valid token came on it, whatever comes later.
 */
import type { Server } from 'node:net';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';

import { UnknownPeers } from './unknown-peers.ts';

/** With at most 64 KiB each, 64 MiB in all. */
const MAX_STRANGERS = 1_000;
/** Long enough for a handshake and a request over a bad line; a health check comes on a connection of its own. */
const STAY_MS = 30_000;

const ways = new WeakMap<Duplex, () => void>();
const knowns = new WeakSet<Duplex>();

/** For the listener of the API, before it listens. */
export function watchStrangers(server: Server, { max = MAX_STRANGERS } = {}): void {
  const strangers = new UnknownPeers<Socket>(max);
  const known = new Map<string, () => void>();
  server.on('connection', (socket: Socket) => {
    const key = keyOf(socket);
    const timer = setTimeout(() => socket.destroy(), STAY_MS).unref();
    const forget = strangers.forgetterOf(socket);
    const leave = (): void => {
      clearTimeout(timer);
      forget();
      known.delete(key);
    };
    known.set(key, leave);
    socket.once('close', leave);
    strangers.add(socket)?.destroy();
  });
  // Requests and upgrades show the socket of TLS, not the one below it.
  server.on('secureConnection', (secured: Socket) => {
    const leave = known.get(keyOf(secured));
    if (leave) ways.set(secured, leave);
  });
}

/** A valid token came on this connection. */
export function markKnown(socket: Duplex): void {
  knowns.add(socket);
  ways.get(socket)?.();
}

export const isKnown = (socket: Duplex): boolean => knowns.has(socket);

const keyOf = ({ remoteAddress, remotePort }: Socket): string => `${remoteAddress} ${remotePort}`;
