/**
 * What the agent's Node is started with, and its code cache is made with: V8 takes neither its own modules' nor our code cache
 * under other flags than they were made with, so whatever else is set is set by the agent itself (prefer-small-heap.ts).
 * The agent's heap is small and lives long: a young generation of 1 MiB, and one helper thread instead of four, save 8 MiB.
 */
export const AGENT_NODE_FLAGS = ['--max-semi-space-size=1', '--v8-pool-size=1'] as const;
