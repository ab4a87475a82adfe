export { handOverNamespace, readScopeRecord, requestNamespace } from './change-scope-record.ts';
export { claimNamespace } from './claim-namespace.ts';
export { executePlan } from './execute-plan.ts';
export { FencedError, NOT_OWNER, RefusedError } from './execution-context.ts';
