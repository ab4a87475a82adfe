/**
 * A memory limit that was lowered below what the data needs. Decided from the new limit and from what the pods hold now.
 * Invariant: no planned restart makes a pod that its kernel kills while it copies the data, or a primary that evicts keys
 * or refuses writes from its first moment on. Where the limit is not lowered nothing is held: a cache runs at its maxmemory.
 */
import { largestMaxmemoryBytes, memoryLimitBytes } from '#domain';
import { answers } from '../cluster-view.ts';
import type { ClusterView, DataPod } from '../cluster-view.ts';
import type { Unrest } from './explain-unrest.ts';

export const MEMORY_TOO_SMALL = 'MemoryTooSmall';

const MIB = 1024 * 1024;

export const explainMemory = ({ spec, dataPods }: ClusterView, next: DataPod): Unrest | undefined => {
  const limitBytes = memoryLimitBytes(spec.resources);
  if (limitBytes === undefined || (next.memoryLimitBytes ?? Infinity) <= limitBytes) return undefined;
  const roomBytes = largestMaxmemoryBytes(spec.memory, limitBytes);
  const heldBytes = Math.max(0, ...dataPods.filter(answers).map(({ facts }) => facts.usedMemoryBytes ?? 0));
  if (heldBytes <= roomBytes) return undefined;
  const message =
    `The memory limit of ${toMib(limitBytes)} MiB leaves ${toMib(roomBytes)} MiB for data, and the pods hold more; ` +
    'no pod is restarted with it. Set spec.resources back to a larger limit, or remove data first.';
  return { reason: MEMORY_TOO_SMALL, message };
};

const toMib = (bytes: number): number => Math.floor(bytes / MIB);
