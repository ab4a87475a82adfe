/**
 * Which outages make a replica unready, and until when. Only those that a probe of its own meets count: a database that is
 * there and useless to everybody. A statement that fails of one is a reason to look and no proof, or a caller with one costly
 * query could take all replicas out of their Service. Connections that are cut or refused are seen by who needs one.
 */
import type { Outage } from '../database/sql-state.ts';

const USELESS: ReadonlySet<Outage> = new Set([
  'DATABASE_READ_ONLY',
  'DATABASE_DISK_FULL',
  'DATABASE_OUT_OF_MEMORY',
  'DATABASE_OUT_OF_RESOURCES',
  'DATABASE_DISK_FAILS',
  'DATABASE_CORRUPTED',
  'DATABASE_LOGIN_REFUSED',
  'DATABASE_MISSING',
]);

export const isUseless = (outage: Outage | undefined): outage is Outage => outage !== undefined && USELESS.has(outage);

/** A full disk comes and goes with each file that is removed: readiness must not move all new connections with it. */
const CALM_MS = 5_000;
/** For so long after a statement failed the database is looked at in earnest. */
const DOUBT_MS = 10_000;
const LOOK_EVERY_MS = 2_000;

/** Times on one clock that never goes back; -Infinity: never. */
export interface Seen {
  /** A probe failed of an outage. */
  readonly failedMs: number;
  /** A probe did not. */
  readonly passedMs: number;
  /** A statement of anybody failed of one. */
  readonly doubtedMs: number;
  readonly lookedMs: number;
}

export const NOTHING_SEEN: Seen = {
  failedMs: -Infinity,
  passedMs: -Infinity,
  doubtedMs: -Infinity,
  lookedMs: -Infinity,
};

export const isOutageOver = ({ failedMs, passedMs }: Seen, nowMs: number): boolean =>
  passedMs > failedMs && nowMs - failedMs >= CALM_MS;

/** Whether to probe in earnest now: it costs the database a megabyte, so not for each statement that fails. */
export const isLookDue = ({ doubtedMs, lookedMs }: Seen, isOut: boolean, nowMs: number): boolean =>
  nowMs - lookedMs >= LOOK_EVERY_MS && (isOut || nowMs - doubtedMs < DOUBT_MS);
