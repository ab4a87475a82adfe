/*
 * How others speak to a cluster's runner: lines of JSON over a unix socket in the cluster's folder.
 * Each call bears an id that its reply repeats; replies come in any order, log lines at any time.
 */
import type { CutOff, PartitionTarget } from './partition-rules.ts';

export type ControlCall =
  | { call: 'start' }
  | { call: 'ready' }
  | { call: 'loadImage'; tarPath: string }
  | { call: 'node'; node: number; verb: 'kill' | 'start' | 'pause' | 'resume' | 'heal' }
  | { call: 'partition'; node: number; from: PartitionTarget }
  | { call: 'nodeExec'; node: number; argv: string[] }
  | { call: 'apiServer'; verb: 'kill' | 'start' | 'pause' | 'resume' }
  /** One more address the cluster is cut off from; without one, all are restored. */
  | { call: 'cutOff'; from?: CutOff }
  | { call: 'exit' };

export type ControlRequest = ControlCall & { id: number };

export type ControlMessage = { id: number; value: unknown } | { id: number; error: string } | { log: string };
