/**
 * Whether a process whose session was taken over may dial again: only as the holder of the Lease, which a renewal has
 * just proven. A process that lost its API server keeps the link by design (03 rule 10) and cannot see that another one
 * holds the Lease by now; that its session was taken over is how it hears of it. Dialling again it would take the session
 * back, the holder would too, and after three rounds the hub would take their one member cluster for two with one key.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { LinkParts } from './ports.ts';

const LOOK_MS = 500;
/**
 * The other one may have ended since, with nobody left to tell the hub that the API server is away. Longer than the five
 * minutes within which a hub counts take-overs.
 */
const LONGEST_MS = 6 * 60_000;

/** Resolves when the fence is open, after six minutes, or when `signal` aborts. */
export async function untilHolder(
  { fence, clock, log }: Pick<LinkParts, 'fence' | 'clock' | 'log'>,
  signal: AbortSignal,
): Promise<void> {
  if (fence() || signal.aborted) return;
  log(
    'warn',
    'another process of this agent has its session, and the Lease is not renewed here: not dialling until it is',
    {
      code: 'SESSION_TAKEN_OVER',
      atMostMs: LONGEST_MS,
    },
  );
  for (const untilMs = clock.monotonicMs() + LONGEST_MS; !fence() && clock.monotonicMs() < untilMs && !signal.aborted;)
    await sleep(LOOK_MS, undefined, { signal }).catch(() => undefined);
}
