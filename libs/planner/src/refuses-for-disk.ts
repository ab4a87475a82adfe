/**
 * Whether a server answers writes with MISCONF: its last write to the append-only file failed, or its last RDB did while
 * it is to keep one. The engines take writes again by themselves, with the first write to the disk that succeeds.
 */
import type { AnsweringPod } from './cluster-view.ts';

export const refusesForDisk = ({ facts: { aof, save, config } }: AnsweringPod): boolean =>
  (aof?.enabled === true && aof.writesFail === true) ||
  (save?.lastOk === false && (config['save'] ?? '') !== '' && config['stop-writes-on-bgsave-error'] !== 'no');
