import { parseArgs } from 'node:util';
import type { ScaleMode } from './measure-agent-scale.ts';

export interface OperatorOptions {
  /** The gaps of failovers, the agent's own cost, or both. */
  readonly engine: boolean;
  readonly agent: boolean;
  readonly mode: ScaleMode;
  /** RedisClusters, ascending. */
  readonly sizes: readonly number[];
  readonly watchS: number;
}

const MODES: readonly ScaleMode[] = ['Replication', 'Sentinel'];

/** Throws an Error that says what is wrong. `--json` is read by the caller. */
export function parseOperatorOptions(args: readonly string[]): OperatorOptions {
  const { values } = parseArgs({
    args: [...args],
    options: {
      only: { type: 'string' },
      clusters: { type: 'string', default: '1,50,200' },
      mode: { type: 'string', default: 'Replication' },
      watch: { type: 'string', default: '60' },
      json: { type: 'boolean' },
    },
  });
  const { only } = values;
  if (only !== undefined && only !== 'engine' && only !== 'agent') throw new Error('--only is engine or agent');
  const mode = MODES.find((each) => each === values.mode);
  if (mode === undefined) throw new Error(`--mode is one of ${MODES.join(', ')}`);
  const sizes = values.clusters.split(',').map((text) => wholeNumber('--clusters', text));
  return {
    engine: only !== 'agent',
    agent: only !== 'engine',
    mode,
    sizes: sizes.sort((a, b) => a - b),
    watchS: wholeNumber('--watch', values.watch),
  };
}

function wholeNumber(option: string, text: string): number {
  const value = Number(text);
  if (!Number.isInteger(value) || value < 1) throw new Error(`${option}: ${text} is no whole number above 0`);
  return value;
}
