/**
 * A dozen watches and the Lease fail together, every few seconds, while the API server is away. Of failures under one
 * name one is a warning, then one a minute, and the rest are for whoever reads at level debug.
 */
import type { Clock } from '#domain';
import type { Log } from './platform/index.ts';

const AGAIN_AFTER_MS = 60_000;

export type WarnSparingly = (name: string, message: string, fields: Readonly<Record<string, unknown>>) => void;

export const warnSparingly = (log: Log, clock: Clock): WarnSparingly => {
  const toldAtMs = new Map<string, number>();
  return (name, message, fields) => {
    const nowMs = clock.monotonicMs();
    const before = toldAtMs.get(name);
    if (before !== undefined && nowMs - before < AGAIN_AFTER_MS) {
      log('debug', message, fields);
      return;
    }
    if (toldAtMs.size > 10_000) toldAtMs.clear();
    toldAtMs.set(name, nowMs);
    log('warn', message, fields);
  };
};
