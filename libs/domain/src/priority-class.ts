/**
 * Priority classes that no RedisCluster may have. Classes called `system-…` belong to Kubernetes' own components: a pod with
 * one pushes any other pod off its node. Whoever may make a RedisCluster need not have the right to make pods, so the agent
 * would lend its own right to them. Kubernetes reserves the prefix: nobody can create another class with it.
 */
export const isSystemPriorityClass = (name: string): boolean => name.startsWith('system-');
