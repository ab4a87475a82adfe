/** Public face of the link: what other features may use. */
export { changeDesired } from './change-desired.ts';
export { PersonWatch } from './person-watch.ts';
export { judgeDeletes } from './judge-deletes.ts';
export { FLEET_SUBJECT } from './fold.work.ts';
export { AgentListener } from './agent-listener.ts';
export { NextCaTeller } from './next-ca-teller.ts';
export { LOCAL_REPORTED_AT, REPORTED_AT } from './reported-at.ts';
export { loseSight } from './store-verdicts.ts';
