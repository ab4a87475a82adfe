export { chooseHistory } from './operations/choose-history.ts';
export { judgeOrphans } from './operations/judge-orphans.ts';
export { takesTurn, waitsForTurn } from './rollout/explain-hold.ts';
export * from './judge-tenure.ts';
export * from './plan-redis-cluster.ts';
export * from './plan-switchover.ts';
export * from './planner-input.ts';
