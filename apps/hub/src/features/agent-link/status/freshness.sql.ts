/**
 * How fresh the status of one object is: as its agent, but LATE at best while its last status could not be stored. SQL over
 * `agent_seen AS seen` and `status_unstored AS unstored`, each of which may be absent.
 */
export const FRESHNESS_OF_STATUS = `CASE WHEN seen.verdict = 'FRESH' AND unstored.hub_uid IS NOT NULL THEN 'LATE'
  ELSE coalesce(seen.verdict, 'UNKNOWN') END`;
