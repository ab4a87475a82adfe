/**
 * The numbers of the advisory locks, all in one place: two kinds of work under one number would wait for each other, and
 * some of them are held for as long as a replica starts. Equal in all replicas, and never given to other work: during a
 * rolling upgrade the release before takes them as well.
 */

/** Background work, held for one tick. */
export const WORKER_LOCK = {
  liveness: 7_162_101,
  /** Of hubs before `region_rollup`, which fold `fleet_rollup` under it. */
  fold: 7_162_102,
  housekeeping: 7_162_103,
  outbox: 7_162_104,
  health: 7_162_105,
  audit: 7_162_106,
  auditTrim: 7_162_107,
  size: 7_162_110,
  events: 7_162_111,
} as const;

export const LOCK = {
  /** Among hubs that migrate the same database. */
  migration: 7_162_001,
  /** While deletes are counted. */
  deleteBreaker: 7_162_201,
  /** Among replicas that start at once. */
  bootstrap: 7_162_202,
} as const;
