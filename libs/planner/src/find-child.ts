import type { KubeObject, RedisClusterSnapshot } from '#domain';

/** A live child of the data set by kind and name. */
export const findChild = (
  { children }: Pick<RedisClusterSnapshot, 'children'>,
  kind: string,
  name: string,
): KubeObject | undefined => children.find((child) => child.kind === kind && child.metadata.name === name);
