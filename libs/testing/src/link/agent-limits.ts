/** What an agent allows its hub, as its configuration has it by default; any image, since what tests push is not pulled. */
export interface TestLimits {
  readonly namespaces: readonly string[];
  readonly protectedNamespaces: readonly string[];
  readonly imageRegistries: readonly string[];
  readonly priorityClasses: readonly string[];
  readonly maxRedisClusters: number;
  readonly acceptDeletes: boolean;
  readonly maxDeletes: number;
  readonly maxDestructiveChanges: number;
}

export const agentLimits = (changes: Partial<TestLimits> = {}): TestLimits => ({
  namespaces: [],
  protectedNamespaces: [],
  imageRegistries: ['*'],
  priorityClasses: [],
  maxRedisClusters: 5_000,
  acceptDeletes: true,
  maxDeletes: 3,
  maxDestructiveChanges: 3,
  ...changes,
});
