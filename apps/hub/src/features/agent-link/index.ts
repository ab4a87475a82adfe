/** Public face of the link: what other features may use. */
export { changeDesired } from './desired/change-desired.ts';
export { PersonWatch } from './person-watch.ts';
export { isHeldByBreaker, isHeldForPast } from './desired/delete-breaker.rules.ts';
export { readDeleteLimits } from './desired/delete-limits.ts';
export { holdOn, judgeDeletes } from './desired/judge-deletes.ts';
export { recallDelete } from './sessions/recall-delete.ts';
export { FLEET_SUBJECT } from './rollups/fold.work.ts';
export { AgentListener } from './connections/agent-listener.ts';
export { NextCaTeller } from './connections/next-ca-teller.ts';
export { FRESHNESS_OF_STATUS } from './status/freshness.sql.ts';
export { LOCAL_REPORTED_AT, REPORTED_AT } from './status/reported-at.ts';
export { loseSight } from './liveness/store-verdicts.ts';
