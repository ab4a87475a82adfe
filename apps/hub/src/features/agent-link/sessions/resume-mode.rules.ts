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
  const distrust = findDistrust(head, hello, hubEpoch);
  if (distrust) return { mode: 'INVENTORY', reason: distrust };
  if (isFirst(hello)) return { mode: 'SNAPSHOT', reason: 'FIRST_SESSION' };
  if (isTrimmed(head, hello)) return { mode: 'SNAPSHOT', reason: 'OUTBOX_TRIMMED' };
  return { mode: 'DELTA', reason: 'IN_STEP' };
}

const isFirst = (hello: HelloState): boolean => hello.hubEpoch === undefined || hello.appliedRevision === 0;

function findDistrust(head: SpecHead, hello: HelloState, hubEpoch: string): string | undefined {
  if (hello.hubEpoch !== undefined && hello.hubEpoch !== hubEpoch) return 'EPOCH_CHANGED';
  if (hello.appliedRevision > head.revision) return 'AGENT_AHEAD';
  if (head.inventoryNeeded) return 'DIGEST_DIFFERS';
  // The digest of an agent whose last ack was lost differs rightly; it is compared after the next ack.
  const comparable = !isFirst(hello) && hello.inventory === 'SYNCED' && hello.appliedRevision === head.ackedRevision;
  return comparable && hello.specDigest !== head.digest ? 'DIGEST_DIFFERS' : undefined;
}

/** What the agent has missed is not all in the outbox any more. */
function isTrimmed(head: SpecHead, hello: HelloState): boolean {
  if (hello.appliedRevision >= head.revision) return false;
  return head.oldestChange === undefined || head.oldestChange > hello.appliedRevision + 1;
}
