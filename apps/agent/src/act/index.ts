export { claimNamespace } from './claim-namespace.ts';
export { executePlan } from './execute-plan.ts';
export { FencedError } from './execution-context.ts';
