/**
 * Why a server answers writes with MISCONF: its last write to the append-only file failed, which is its disk, or its last
 * snapshot failed while it is to keep one, for which there are other causes too (no memory for the fork, a child that was
 * killed). The engines take writes again by themselves, with the first write to the disk, or snapshot, that succeeds.
 */
import type { AnsweringPod } from './cluster-view.ts';

export type DiskRefusal = 'AppendFails' | 'SnapshotFails';

export const whyRefusesForDisk = ({ facts: { aof, save, config } }: AnsweringPod): DiskRefusal | undefined => {
  if (aof?.enabled === true && aof.writesFail === true) return 'AppendFails';
  const wantsSnapshot = (config['save'] ?? '') !== '' && config['stop-writes-on-bgsave-error'] !== 'no';
  return save?.lastOk === false && wantsSnapshot ? 'SnapshotFails' : undefined;
};
