/**
 * When a status was last known to be the present one: when it was received, or when its agent proved since that nothing
 * has changed. SQL over `resource_status AS s`, `agent_status_head AS head` and `local_object AS o`. What that proof did not cover
 * (gone, missing in the last full resend, told without a hash) keeps the time of its receipt.
 */
import { UNREPORTED_HASH } from './status-digest.ts';

export const REPORTED_AT = `CASE WHEN s.gone OR length(s.status_hash) <> 32 OR s.status_hash = '${UNREPORTED_HASH}'
  THEN s.received_at ELSE greatest(s.received_at, head.confirmed_at) END`;

export const LOCAL_REPORTED_AT = `CASE WHEN o.item ? 'hash' THEN greatest(o.received_at, head.confirmed_at)
  ELSE o.received_at END`;
