/**
 * Sorts what an agent should hold into what is sent and what is not: a spec that the definition there cannot hold is
 * withheld (03 rule 14), a delete passes the breaker first (rule 2), and none goes while the database may be of yesterday
 * (rule 8). What is not sent is booked with its reason, and a snapshot names it as held, since the agent would else take
 * it for something that this hub does not know.
 */
import { explainTooNew } from './crd-skew.rules.ts';
import type { DesiredRepository } from './desired.repository.ts';
import type { TargetRow } from './desired-target.ts';

export interface Split {
  readonly upserts: readonly TargetRow[];
  readonly tombstones: readonly TargetRow[];
  /** hubUids of what is neither sent nor unknown. */
  readonly held: readonly string[];
  /** Of those held: deletes that have passed, and go as soon as it is known which database this is. */
  readonly gated: readonly string[];
}

export interface SplitParts {
  readonly agentId: string;
  /** From this session's Hello. */
  readonly crdSchemaHash: string;
  readonly desired: DesiredRepository;
  readonly nowMs: () => number;
}

export async function splitDesired(rows: readonly TargetRow[], parts: SplitParts): Promise<Split> {
  const wanted = rows.filter((row) => row.deletion === null);
  const doomed = rows.filter((row) => row.deletion === 'DELETE');
  const tooNew = await withhold(wanted, parts);
  const released = await release(doomed, parts);
  const isPassed = (row: TargetRow): boolean => row.breaker === 'RELEASED' || released.has(row.hubUid);
  const { maySendDeletes } = parts.desired;
  const mayGo = (row: TargetRow): boolean => maySendDeletes && isPassed(row);
  return {
    upserts: wanted.filter((row) => !tooNew.has(row.hubUid)),
    tombstones: rows.filter((row) => row.deletion === 'ORPHAN' || (row.deletion === 'DELETE' && mayGo(row))),
    held: [...tooNew, ...doomed.filter((row) => !mayGo(row)).map((row) => row.hubUid)],
    gated: maySendDeletes ? [] : doomed.filter(isPassed).map((row) => row.hubUid),
  };
}

async function withhold(
  rows: readonly TargetRow[],
  { agentId, crdSchemaHash, desired, nowMs }: SplitParts,
): Promise<ReadonlySet<string>> {
  const withheld = rows.flatMap((row) => {
    const message = explainTooNew(row, crdSchemaHash);
    return message === undefined ? [] : [{ hubUid: row.hubUid, hubGeneration: row.hubGeneration, message }];
  });
  if (withheld.length > 0) await desired.withhold(agentId, withheld, nowMs());
  return new Set(withheld.map((one) => one.hubUid));
}

/** Those without a verdict, and those whose approval is over, go through the breaker now. */
async function release(rows: readonly TargetRow[], { agentId, desired }: SplitParts): Promise<ReadonlySet<string>> {
  const unjudged = rows.filter((row) => row.breaker === 'UNJUDGED' || row.breaker === 'EXPIRED');
  if (unjudged.length === 0) return new Set();
  const hubUids = unjudged.map((row) => row.hubUid);
  return desired.release(agentId, hubUids);
}
