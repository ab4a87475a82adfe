/**
 * The id of an event follows from what it is: its agent, object, reason, sentence and first time, by which agents count
 * repeats as well. So a batch that comes again because its ack was lost finds what it has stored, in whichever session and
 * at whichever replica, and an event that was counted up since is the same one.
 */
import { createHash } from 'node:crypto';
import type { EventItem } from '#protocol';

/** A UUID of version 8. */
export function eventIdOf(agentId: string, { namespace, name, reason, message, first }: EventItem): string {
  const bytes = createHash('sha256')
    .update(JSON.stringify([agentId, namespace, name, reason, message, first]), 'utf8')
    .digest();
  bytes[6] = 0x80 | ((bytes[6] ?? 0) & 0x0f);
  bytes[8] = 0x80 | ((bytes[8] ?? 0) & 0x3f);
  const hex = bytes.toString('hex');
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20, 32)].join('-');
}
