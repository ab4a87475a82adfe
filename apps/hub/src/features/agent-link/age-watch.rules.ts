/**
 * What a replica says of itself at `/readyz` when work has not been done for a minute. It stays ready: replicas share the database,
 * so all would go at once, and with them the API, which works; and one agent whose status cannot be stored would be enough.
 */
const TOO_OLD_MS = 60_000;

export interface Ages {
  /** Of the oldest status that this replica received and has not stored. */
  readonly statusMs: number;
  /** Since the fleet was counted last; null: never yet. */
  readonly foldMs: number | null;
  /** Member clusters whose counts cannot be written. */
  readonly foldsApart: number;
}

export interface Concern {
  /** Stable. */
  readonly code: 'STATUS_NOT_STORED' | 'COUNTS_NOT_FOLDED';
  readonly message: string;
}

export function findConcerns({ statusMs, foldMs, foldsApart }: Ages): readonly Concern[] {
  const concerns: Concern[] = [];
  if (statusMs > TOO_OLD_MS) {
    concerns.push({
      code: 'STATUS_NOT_STORED',
      message: `status that an agent reported ${toSeconds(statusMs)} s ago is not stored yet: the log names the agent and the error`,
    });
  }
  if (foldMs !== null && foldMs > TOO_OLD_MS) {
    concerns.push({
      code: 'COUNTS_NOT_FOLDED',
      message: `the counts of the fleet are of ${toSeconds(foldMs)} s ago: look in the log of each replica for background work that fails`,
    });
  } else if (foldsApart > 0) {
    concerns.push({
      code: 'COUNTS_NOT_FOLDED',
      message: `the counts of ${foldsApart} member clusters cannot be written and are of before: the log names them and the error`,
    });
  }
  return concerns;
}

const toSeconds = (ms: number): number => Math.round(ms / 1_000);
