/**
 * Sees whether the database commits (commit-health.rules.ts), by the commits of status, and without any that end by one
 * of its own that writes a few bytes to the write-ahead log and to no table. Tells the log when that changes.
 */
import type { Logger } from 'pino';

import { type Commit, type CommitKind, type Committed, hangs, isCalm, needsProbe } from './commit-health.rules.ts';

const LOOK_MS = 1_000;

export interface CommitWatchParts {
  readonly log: Logger;
  readonly nowMs: () => number;
}

export class CommitWatch {
  readonly #parts: CommitWatchParts;
  readonly #underWay = new Set<Commit>();
  #hungAtMs = -Infinity;
  #last: Committed = { anyMs: -Infinity, probeMs: -Infinity };
  #count = 0;
  #isTold = false;

  constructor(parts: CommitWatchParts) {
    this.#parts = parts;
  }

  /** Commits that have ended well so far. */
  get count(): number {
    return this.#count;
  }

  /** False while a commit hangs, and for some time after it. */
  get isCommitting(): boolean {
    const nowMs = this.#parts.nowMs();
    for (const commit of this.#underWay) if (hangs(commit, nowMs, this.#last)) this.#hungAtMs = nowMs;
    return isCalm(this.#hungAtMs, nowMs);
  }

  /** `work` ends with a commit. */
  async watch<T>(kind: CommitKind, work: () => Promise<T>): Promise<T> {
    const commit = { kind, beganMs: this.#parts.nowMs() };
    this.#underWay.add(commit);
    try {
      const done = await work();
      const nowMs = this.#parts.nowMs();
      this.#last = { anyMs: nowMs, probeMs: kind === 'PROBE' ? nowMs : this.#last.probeMs };
      this.#count += 1;
      return done;
    } finally {
      this.#underWay.delete(commit);
      const nowMs = this.#parts.nowMs();
      if (hangs(commit, nowMs, this.#last)) this.#hungAtMs = nowMs;
    }
  }

  /** Returns the way to stop it. What a probe fails of is told by whoever asks the database for something. */
  start(probe: () => Promise<unknown>): () => void {
    let isProbing = false;
    const timer = setInterval(() => {
      this.#tell();
      if (isProbing || !needsProbe(this.#underWay, this.#last, this.#parts.nowMs())) return;
      isProbing = true;
      void this.watch('PROBE', probe)
        .catch(() => undefined)
        .finally(() => (isProbing = false));
    }, LOOK_MS).unref();
    return () => clearInterval(timer);
  }

  #tell(): void {
    const { log } = this.#parts;
    const isWrong = !this.isCommitting;
    if (isWrong === this.#isTold) return;
    this.#isTold = isWrong;
    if (!isWrong) return log.info('the database commits again');
    log.error(
      { code: 'DATABASE_COMMITS_HANG', oldestMs: this.#oldestMs() },
      'the database answers and does not commit: look at its disk and its synchronous standbys. Nothing is acknowledged meanwhile, nothing is lost, and this replica is not ready',
    );
  }

  #oldestMs(): number {
    const nowMs = this.#parts.nowMs();
    return Math.round(Math.max(0, ...[...this.#underWay].map(({ beganMs }) => nowMs - beganMs)));
  }
}
