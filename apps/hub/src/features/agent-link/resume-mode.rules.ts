/**
 * Decides how a session begins, from what the agent says in Hello and what the hub has booked. INVENTORY compares both
 * sides object by object and destroys nothing; it is chosen whenever revisions or contents cannot be trusted to mean
 * the same on both sides. Choosing DELTA in such a case would leave a difference unseen for ever.
 */
import type { Hello, Welcome } from '#protocol';

export interface SpecHead {
  readonly revision: number;
  readonly ackedRevision: number;
  readonly digest: string;
  readonly inventoryNeeded: boolean;
  /** Lowest revision still in the outbox; undefined when it is empty. */
  readonly oldestChange?: number;
}

export interface ResumeMode {
  readonly mode: Welcome['mode'];
  readonly reason: string;
}

type HelloState = Pick<Hello, 'appliedRevision' | 'specDigest' | 'inventory' | 'hubEpoch'>;

export function chooseResumeMode(head: SpecHead, hello: HelloState, hubEpoch: string): ResumeMode {
  if (hello.hubEpoch !== undefined && hello.hubEpoch !== hubEpoch)
    return { mode: 'INVENTORY', reason: 'EPOCH_CHANGED' };
  if (hello.appliedRevision > head.revision) return { mode: 'INVENTORY', reason: 'AGENT_AHEAD' };
  if (head.inventoryNeeded) return { mode: 'INVENTORY', reason: 'DIGEST_DIFFERS' };
  if (hello.hubEpoch === undefined || hello.appliedRevision === 0) return { mode: 'SNAPSHOT', reason: 'FIRST_SESSION' };
  // The digest of an agent whose last ack was lost differs rightly; it is compared after the next ack.
  const comparable = hello.inventory === 'SYNCED' && hello.appliedRevision === head.ackedRevision;
  if (comparable && hello.specDigest !== head.digest) return { mode: 'INVENTORY', reason: 'DIGEST_DIFFERS' };
  const behind = hello.appliedRevision < head.revision;
  if (behind && (head.oldestChange === undefined || head.oldestChange > hello.appliedRevision + 1)) {
    return { mode: 'SNAPSHOT', reason: 'OUTBOX_TRIMMED' };
  }
  return { mode: 'DELTA', reason: 'IN_STEP' };
}
