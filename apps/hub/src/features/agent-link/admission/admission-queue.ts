/**
 * Holds accepted sockets, unread, until it is their turn: before TLS, whose handshake is most of what a herd costs. Looks
 * at the lag of the event loop only while somebody waits; an idle replica runs no timer for it.
 */
import type { Socket } from 'node:net';
import type { Logger } from 'pino';

import type { Metrics } from '../../../platform/telemetry/metrics.ts';
import { AdmissionLines } from './admission-lines.ts';
import { sourceOf } from '../../../platform/connections/address-source.rules.ts';
import {
  type Admission,
  advanceAdmission,
  beginAdmission,
  isStale,
  isWorthQueueing,
  judgeNewcomer,
  takeToken,
} from './admission.rules.ts';

const TICK_MS = 25;
/** What is left of a lag at the next tick, so that one tick in time does not end a slow-down. */
const LAG_DECAY = 0.8;
/** An address that crowds out others is told once in this time. */
const TELL_AGAIN_MS = 60_000;

export interface AdmissionQueueParts {
  readonly admit: (socket: Socket) => void;
  readonly waitingHellos: () => number;
  readonly nowMs: () => number;
  readonly metrics: Metrics;
  readonly log: Logger;
}

interface Waiting {
  readonly socket: Socket;
  readonly sinceMs: number;
}

export class AdmissionQueue {
  readonly #parts: AdmissionQueueParts;
  #admission: Admission;
  readonly #lines = new AdmissionLines<Waiting>();
  #timer: NodeJS.Timeout | undefined;
  #dueAtMs = 0;
  #lagMs = 0;
  #toldAtMs = -Infinity;

  constructor(parts: AdmissionQueueParts) {
    this.#parts = parts;
    this.#admission = beginAdmission(parts.nowMs());
  }

  /** The socket is paused; it is admitted, now or later, or destroyed. */
  offer(socket: Socket): void {
    const nowMs = this.#parts.nowMs();
    if (this.#lines.length === 0) {
      this.#advance(nowMs);
      if (this.#admission.tokens >= 1) return this.#admit({ socket, sinceMs: nowMs }, nowMs);
    }
    const source = sourceOf(socket.remoteAddress);
    const verdict = this.#judge(source);
    if (verdict === 'FULL' || verdict === 'SHARE') return this.#drop(socket, verdict);
    if (verdict === 'REPLACES') this.#dropNewestOfLongest(nowMs);
    socket.on('error', ignore);
    this.#lines.add(source, { socket, sinceMs: nowMs });
    this.#tellMetrics();
    this.#tickLater();
  }

  /** Whoever waits is sent away. */
  stop(): void {
    clearTimeout(this.#timer);
    for (let one = this.#takeNext(); one !== undefined; one = this.#takeNext()) this.#drop(one.socket, 'DRAIN');
    this.#tellMetrics();
  }

  #judge(source: string): ReturnType<typeof judgeNewcomer> {
    const lines = this.#lines;
    return judgeNewcomer({
      isWorthQueueing: isWorthQueueing(this.#admission, lines.length),
      ofItsSource: lines.lengthOf(source),
      ofTheLongest: lines.longest,
      sources: lines.sources,
    });
  }

  #dropNewestOfLongest(nowMs: number): void {
    const source = this.#lines.longestSource;
    const one = source === undefined ? undefined : this.#lines.takeNewest(source);
    if (one === undefined) return;
    this.#drop(one.socket, 'SHARE');
    if (nowMs - this.#toldAtMs < TELL_AGAIN_MS) return;
    this.#toldAtMs = nowMs;
    const { longest: waiting, length, sources } = this.#lines;
    this.#parts.log.warn(
      { code: 'ADMISSION_CROWDED', source, waiting, others: length - waiting, otherSources: sources - 1 },
      'more connections come from one address than have their turn; it makes room for those of others',
    );
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
    while (this.#admission.tokens >= 1) {
      const source = this.#lines.next;
      const one = this.#takeNext();
      if (source === undefined || one === undefined) break;
      // Who has given up costs its source no turn.
      if (one.socket.destroyed) continue;
      if (isStale(nowMs - one.sinceMs)) this.#drop(one.socket, 'STALE');
      else {
        this.#lines.passTurn(source);
        this.#admit(one, nowMs);
      }
    }
    this.#tellMetrics();
    this.#parts.metrics.admissionRate.set(this.#admission.perSecond);
    if (this.#lines.length > 0) this.#tickLater();
    else this.#lagMs = 0;
  }

  #takeNext(): Waiting | undefined {
    const source = this.#lines.next;
    return source === undefined ? undefined : this.#lines.takeOldest(source);
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
  #drop(socket: Socket, reason: 'FULL' | 'SHARE' | 'STALE' | 'DRAIN'): void {
    this.#parts.metrics.admissionDrops.inc({ reason });
    socket.on('error', ignore);
    socket.resetAndDestroy();
  }

  #tellMetrics(): void {
    const { metrics } = this.#parts;
    metrics.admissionQueue.set(this.#lines.length);
    metrics.admissionSources.set(this.#lines.sources);
    metrics.admissionLongest.set(this.#lines.longest);
  }
}

const ignore = (): void => undefined;
