/**
 * Which ended operations are deleted: those beyond the newest ten of a RedisCluster. One that is not over is never among
 * them, however many there are.
 */
import { isOperationOver } from '#domain';
import type { RedisOperationObject } from '#domain';
import { createdAtMs } from './open-operations.ts';

export const HISTORY_LIMIT = 10;

export const chooseHistory = (
  operations: readonly RedisOperationObject[],
): readonly { readonly name: string; readonly uid: string }[] =>
  operations
    .filter(({ status, metadata }) => isOperationOver(status?.phase) && metadata.deletionTimestamp === undefined)
    .sort((a, b) => endedAtMs(b) - endedAtMs(a) || b.metadata.name.localeCompare(a.metadata.name))
    .slice(HISTORY_LIMIT)
    .map(({ metadata }) => ({ name: metadata.name, uid: metadata.uid ?? '' }));

const endedAtMs = (operation: RedisOperationObject): number =>
  Date.parse(operation.status?.finishedAt ?? '') || createdAtMs(operation);
