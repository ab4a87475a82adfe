/**
 * The name of a change, for a person's consent: a digest of the spec it leads to and of the shape in which this release
 * renders it. When the change happens is no part of it (updateStrategy, maintenanceWindows), so that letting it go on
 * does not make it another change.
 */
import { createHash } from 'node:crypto';
import type { RedisClusterSpec } from '#domain';
import { CURRENT_RENDER_VERSION } from './render-children.ts';

/** Sixteen hex digits; the same for equal specs in whatever order their fields stand. */
export const planHash = (spec: RedisClusterSpec): string => {
  const { updateStrategy: _, maintenanceWindows: __, ...what } = spec;
  const text = JSON.stringify([CURRENT_RENDER_VERSION, inOrder(what)]);
  return createHash('sha256').update(text).digest('hex').slice(0, 16);
};

const inOrder = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(inOrder);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).filter(([, each]) => each !== undefined);
  return entries.sort(([a], [b]) => (a < b ? -1 : 1)).map(([key, each]) => [key, inOrder(each)]);
};
