export * from './plan-redis-cluster.ts';
export * from './planner-input.ts';
