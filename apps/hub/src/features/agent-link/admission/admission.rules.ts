/**
 * How many agents may begin a handshake now (03 rule 13), from the lag of the event loop and the Hellos that wait for the
 * database. The rate climbs slowly to its limit and falls fast, so that the replica goes on serving the sessions it has
 * while a herd comes in. Who would wait for longer than an agent waits for the connection to open is turned away at once:
 * it comes back at a random time, whereas a queue full of agents that have given up would be worked off for nobody.
 *
 * Sources (see `sourceOf`) have their turns one after the other, and the one with most in the queue makes room for the others: a
 * client that opens connections without end takes its own source's place alone. A source that is alone has all of the
 * queue and the whole rate, as a balancer in front needs it, from which everybody seems to come.
 */
const MAX_PER_SECOND = 400;
const MIN_PER_SECOND = 20;
const FIRST_PER_SECOND = 200;
/** Lag up to here is a busy loop at work; beyond the second heartbeats and acks suffer. */
const EASY_LAG_MS = 60;
const HARD_LAG_MS = 200;
/** Hellos of a second; more of them in line for the database means that it is the bottleneck. */
const MAX_WAITING_HELLOS = MAX_PER_SECOND;
const CLIMB_PER_SECOND = 100;
const FALL = 0.7;
/** Between two falls, so that one long pause counts once. */
const FALL_PAUSE_MS = 100;
/** Handshakes that may begin at the same moment. */
const BURST_MS = 100;
/** An agent gives up opening after 5 s, TLS and upgrade included. */
export const MAX_WAIT_MS = 3_500;

export interface Admission {
  readonly perSecond: number;
  /** Handshakes that may begin now; whole ones count. */
  readonly tokens: number;
  readonly atMs: number;
  readonly fellAtMs: number;
}

export interface Load {
  readonly lagMs: number;
  readonly waitingHellos: number;
}

export const beginAdmission = (nowMs: number): Admission => ({
  perSecond: FIRST_PER_SECOND,
  tokens: burstOf(FIRST_PER_SECOND),
  atMs: nowMs,
  fellAtMs: nowMs,
});

/** The state after the time since `atMs`, under this load. */
export function advanceAdmission(admission: Admission, nowMs: number, load: Load): Admission {
  const elapsedMs = Math.max(0, nowMs - admission.atMs);
  const isHard = load.lagMs > HARD_LAG_MS || load.waitingHellos > MAX_WAITING_HELLOS;
  const falls = isHard && nowMs - admission.fellAtMs >= FALL_PAUSE_MS;
  const wanted = falls ? admission.perSecond * FALL : climb(admission.perSecond, elapsedMs, load);
  const perSecond = Math.min(MAX_PER_SECOND, Math.max(MIN_PER_SECOND, wanted));
  const earned = load.waitingHellos > MAX_WAITING_HELLOS ? 0 : (perSecond * elapsedMs) / 1_000;
  return {
    perSecond,
    tokens: Math.min(burstOf(perSecond), admission.tokens + earned),
    atMs: nowMs,
    fellAtMs: falls ? nowMs : admission.fellAtMs,
  };
}

export const takeToken = (admission: Admission): Admission => ({ ...admission, tokens: admission.tokens - 1 });

/** Whether one more at the end of a queue this long would still have its turn in time. */
export const isWorthQueueing = (admission: Admission, queueLength: number): boolean =>
  (queueLength * 1_000) / admission.perSecond < MAX_WAIT_MS;

export interface Newcomer {
  /** Whether it would have its turn in time at the end of the queue. */
  readonly isWorthQueueing: boolean;
  /** Connections of its source that wait. */
  readonly ofItsSource: number;
  /** Connections of the source that has the most of them waiting. */
  readonly ofTheLongest: number;
  readonly sources: number;
}

/**
 * What becomes of one more connection. REPLACES: it waits in the place of the newest of the longest line. SHARE: it is turned
 * away since its source has its share and others wait too. FULL: it is turned away, whoever it is.
 */
export function judgeNewcomer(newcomer: Newcomer): 'WAITS' | 'REPLACES' | 'SHARE' | 'FULL' {
  const { isWorthQueueing: isWorth, ofItsSource, ofTheLongest, sources } = newcomer;
  if (isWorth) return 'WAITS';
  // Its line must not become the longest by it, or two sources would push each other out in turn.
  if (ofItsSource + 1 <= ofTheLongest - 1) return 'REPLACES';
  return sources > 1 && ofItsSource === ofTheLongest && ofTheLongest > 1 ? 'SHARE' : 'FULL';
}

export const isStale = (waitedMs: number): boolean => waitedMs > MAX_WAIT_MS;

const climb = (perSecond: number, elapsedMs: number, { lagMs, waitingHellos }: Load): number =>
  lagMs < EASY_LAG_MS && waitingHellos < MAX_WAITING_HELLOS / 2
    ? perSecond + (CLIMB_PER_SECOND * Math.min(elapsedMs, 1_000)) / 1_000
    : perSecond;

const burstOf = (perSecond: number): number => Math.max(1, (perSecond * BURST_MS) / 1_000);
