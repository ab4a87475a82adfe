/**
 * The engine lines that Atoll runs. A line is `major.minor`; a spec may name a patch of it. What is not listed is
 * refused unless the line is known, because configuration, ACL rules and replication differ by line. Order: oldest
 * first, per engine.
 */
import type { EngineType } from './redis-cluster-spec.ts';

export const ENGINE_LINES: Readonly<Record<EngineType, readonly string[]>> = {
  Redis: ['7.0', '7.2', '7.4', '8.0', '8.2', '8.4', '8.6'],
  Valkey: ['7.2', '8.0', '8.1', '9.0', '9.1'],
};

const REPOSITORY: Readonly<Record<EngineType, string>> = {
  Redis: 'docker.io/library/redis',
  Valkey: 'docker.io/valkey/valkey',
};

/** `8.0.2` → `8.0`. */
export const engineLine = (version: string): string => version.split('.').slice(0, 2).join('.');

/** The official image of the engine; a line's tag moves to its newest patch. */
export const defaultEngineImage = (type: EngineType, version: string): string => `${REPOSITORY[type]}:${version}`;

/** Below zero when `a` is older than `b`. A missing patch counts as the newest of its line, as an image tag does. */
export const compareEngineVersions = (a: string, b: string): number => {
  const left = a.split('.').map(Number);
  const right = b.split('.').map(Number);
  for (let part = 0; part < 3; part += 1) {
    const difference = (left[part] ?? Infinity) - (right[part] ?? Infinity);
    if (difference !== 0 && !Number.isNaN(difference)) return difference;
  }
  return 0;
};
