/**
 * Whether the database commits, from how long the commits under way have lasted: a disk or a standby that hangs lets every
 * SELECT pass and ends no COMMIT. A commit of a second or two is a slow disk, on which a replica goes on. Status that lasts
 * while a probe commits waits for a lock, or is much: a table that somebody has locked must not take all replicas out of their
 * Service, which helps nobody and blames the disk. So probes go on beside it. After a hang some calm is asked for, since what hangs seldom stops at once: readiness that comes and goes with each commit would move all
 * new connections back and forth between the replicas.
 */
/** Longer than from the end of one commit to when the next one would be seen to hang. */
const CALM_MS = 10_000;

export type CommitKind = 'PROBE' | 'STATUS';
/**
 * A probe writes some bytes: its commit lasts as long as the disk takes. Status is the work of many agents, which a busy
 * database may take its time for, and which may wait for a lock.
 */
const HANGS_AFTER_MS: Readonly<Record<CommitKind, number>> = { PROBE: 5_000, STATUS: 15_000 };

export interface Commit {
  readonly kind: CommitKind;
  readonly beganMs: number;
}

/** When commits last ended well. */
export interface Committed {
  readonly anyMs: number;
  readonly probeMs: number;
}

/** Whether it lasts, or has lasted until now, for longer than any disk that is only slow, and waits for nothing else. */
export const hangs = ({ kind, beganMs }: Commit, nowMs: number, { probeMs }: Committed): boolean =>
  nowMs - beganMs >= HANGS_AFTER_MS[kind] && (kind === 'PROBE' || probeMs < beganMs);

const PROBE_EVERY_MS = 2_000;

/** A commit that ended well since is as good as a probe, except beside one of status that lasts. */
export function needsProbe(underWay: Iterable<Commit>, { anyMs, probeMs }: Committed, nowMs: number): boolean {
  for (const { kind, beganMs } of underWay) {
    if (kind === 'STATUS' && nowMs - beganMs >= PROBE_EVERY_MS) return nowMs - probeMs >= PROBE_EVERY_MS;
  }
  return nowMs - anyMs >= PROBE_EVERY_MS;
}

/** `hungAtMs`: when a commit was last seen to hang. */
export const isCalm = (hungAtMs: number, nowMs: number): boolean => nowMs - hungAtMs >= CALM_MS;
