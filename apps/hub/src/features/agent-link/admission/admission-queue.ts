/**
 * Holds accepted sockets, unread, until it is their turn: before TLS, whose handshake is most of what a herd costs. Looks
 * at the lag of the event loop only while somebody waits; an idle replica runs no timer for it.
 */
import type { Socket } from 'node:net';

import type { Metrics } from '../../../platform/telemetry/metrics.ts';
import {
  type Admission,
  advanceAdmission,
  beginAdmission,
  isStale,
  isWorthQueueing,
  takeToken,
} from './admission.rules.ts';

const TICK_MS = 25;
/** What is left of a lag at the next tick, so that one tick in time does not end a slow-down. */
const LAG_DECAY = 0.8;

export interface AdmissionQueueParts {
  readonly admit: (socket: Socket) => void;
  readonly waitingHellos: () => number;
  readonly nowMs: () => number;
  readonly metrics: Metrics;
}

interface Waiting {
  readonly socket: Socket;
  readonly sinceMs: number;
}

export class AdmissionQueue {
  readonly #parts: AdmissionQueueParts;
  #admission: Admission;
  #waiting: Waiting[] = [];
  #timer: NodeJS.Timeout | undefined;
  #dueAtMs = 0;
  #lagMs = 0;

  constructor(parts: AdmissionQueueParts) {
    this.#parts = parts;
    this.#admission = beginAdmission(parts.nowMs());
  }

  /** The socket is paused; it is admitted, now or later, or destroyed. */
  offer(socket: Socket): void {
    const nowMs = this.#parts.nowMs();
    if (this.#waiting.length === 0) {
      this.#advance(nowMs);
      if (this.#admission.tokens >= 1) return this.#admit({ socket, sinceMs: nowMs }, nowMs);
    }
    if (!isWorthQueueing(this.#admission, this.#waiting.length)) return this.#drop(socket, 'FULL');
    socket.on('error', ignore);
    this.#waiting.push({ socket, sinceMs: nowMs });
    this.#parts.metrics.admissionQueue.set(this.#waiting.length);
    this.#tickLater();
  }

  /** Whoever waits is sent away. */
  stop(): void {
    clearTimeout(this.#timer);
    for (const { socket } of this.#waiting.splice(0)) this.#drop(socket, 'DRAIN');
  }

  #tickLater(): void {
    if (this.#timer !== undefined) return;
    this.#dueAtMs = this.#parts.nowMs() + TICK_MS;
    this.#timer = setTimeout(() => this.#tick(), TICK_MS);
  }

  #tick(): void {
    this.#timer = undefined;
    const nowMs = this.#parts.nowMs();
    this.#lagMs = Math.max(nowMs - this.#dueAtMs, this.#lagMs * LAG_DECAY);
    this.#advance(nowMs);
    let taken = 0;
    for (; taken < this.#waiting.length && this.#admission.tokens >= 1; taken += 1) {
      const one = this.#waiting[taken] as Waiting;
      if (one.socket.destroyed) continue;
      if (isStale(nowMs - one.sinceMs)) this.#drop(one.socket, 'STALE');
      else this.#admit(one, nowMs);
    }
    this.#waiting = this.#waiting.slice(taken);
    const { metrics } = this.#parts;
    metrics.admissionQueue.set(this.#waiting.length);
    metrics.admissionRate.set(this.#admission.perSecond);
    if (this.#waiting.length > 0) this.#tickLater();
    else this.#lagMs = 0;
  }

  #advance(nowMs: number): void {
    const load = { lagMs: this.#lagMs, waitingHellos: this.#parts.waitingHellos() };
    this.#admission = advanceAdmission(this.#admission, nowMs, load);
  }

  #admit({ socket, sinceMs }: Waiting, nowMs: number): void {
    this.#admission = takeToken(this.#admission);
    this.#parts.metrics.admissionWaitSeconds.observe((nowMs - sinceMs) / 1_000);
    socket.off('error', ignore);
    this.#parts.admit(socket);
  }

  /** By a reset: the peer knows at once, and nothing of it stays behind here. */
  #drop(socket: Socket, reason: 'FULL' | 'STALE' | 'DRAIN'): void {
    this.#parts.metrics.admissionDrops.inc({ reason });
    socket.on('error', ignore);
    socket.resetAndDestroy();
  }
}

const ignore = (): void => undefined;
