import type { RedisNodeFacts } from '#domain';
import { RefusedError } from './execution-context.ts';

/**
 * Refuses to go on with a hand-over whose old primary has ended, as its connection or its address tells: there is nothing
 * left to hand over, and what is to be done about its death waits for us. Silence is no end.
 */
export const throwIfEnded = (facts: RedisNodeFacts | undefined, pod: string): void => {
  if (facts?.reachable !== false || (facts.reason !== 'CLOSED' && facts.reason !== 'REFUSED')) return;
  throw new RefusedError('NOT_REACHABLE', `${pod} ended before it had handed over.`);
};
