/**
 * Ends connections of the API that were upgraded and then not used: a WebSocket on which nobody who may has begun a
 * subscription, or an upgrade that came to nothing, for which Node keeps no time any more. Anybody can open these without a
 * token, and each would else stay for as long as its client likes.
 */
import type { Server } from 'node:net';
import type { Duplex } from 'node:stream';

/** Clients connect for their first subscription, or ahead of it. */
const UNUSED_MS = 60_000;

const timers = new WeakMap<Duplex, NodeJS.Timeout>();

/** For the listener of the API, before it listens. */
export function endUnusedUpgrades(server: Server, unusedMs = UNUSED_MS): void {
  server.prependListener('upgrade', (_: unknown, socket: Duplex) => {
    const timer = setTimeout(() => socket.destroy(), unusedMs).unref();
    timers.set(socket, timer);
    socket.once('close', () => clearTimeout(timer));
  });
}

/** Its client has begun what it came for, and may stay. */
export function keepUpgrade(socket: Duplex): void {
  clearTimeout(timers.get(socket));
}
