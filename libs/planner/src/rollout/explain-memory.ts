/**
 * A memory limit that is rendered already, and below what the data needs: what was accepted while it fitted
 * (../hold-memory.ts), and has grown since. Decided from the new limit and from what the pods hold now.
 * Invariant: no planned restart makes a pod that its kernel kills while it copies the data, or a primary that evicts keys
 * or refuses writes from its first moment on. Where the limit is not lowered nothing is held: a cache runs at its maxmemory.
 */
import { largestMaxmemoryBytes, memoryLimitBytes, wantedMaxmemoryBytes } from '#domain';
import { answers } from '../cluster-view.ts';
import type { ClusterView, DataPod } from '../cluster-view.ts';
import { MEMORY_TOO_SMALL, heldBytes } from '../hold-memory.ts';
import type { Unrest } from './explain-unrest.ts';

const MIB = 1024 * 1024;

export const explainMemory = ({ spec, dataPods }: ClusterView, next: DataPod): Unrest | undefined => {
  const limitBytes = memoryLimitBytes(spec.resources);
  if (limitBytes === undefined || (next.memoryLimitBytes ?? Infinity) <= limitBytes) return undefined;
  const most = largestMaxmemoryBytes(spec.memory, limitBytes);
  const maxmemoryBytes = wantedMaxmemoryBytes(spec);
  const roomBytes = isLowered(next, maxmemoryBytes) ? Math.min(most, maxmemoryBytes) : most;
  if (heldBytes(dataPods) <= roomBytes) return undefined;
  const message =
    `The memory limit of ${toMib(limitBytes)} MiB leaves ${toMib(roomBytes)} MiB for data, and the pods hold more; ` +
    'no pod is restarted with it. Set spec.resources back to a larger limit, or remove data first.';
  return { reason: MEMORY_TOO_SMALL, message };
};

/** A bound that the pod lives with already may be full, and a little more. */
const isLowered = (pod: DataPod, bytes: number): boolean => {
  const live = answers(pod) ? pod.facts.config['maxmemory'] : undefined;
  return bytes > 0 && live !== undefined && (live === '0' || bytes < Number(live));
};

const toMib = (bytes: number): number => Math.floor(bytes / MIB);
