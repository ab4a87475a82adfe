/**
 * `npm run bench -- hostile`: what those cost the hub who mean it no good, measured from outside on the built hub with its own
 * PostgreSQL. One file for each kind of attacker.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buildHub } from '../../tools/build/build-all.ts';
import { startHub, type HubProcess } from '../../tools/fleet/hub-process.ts';
import { asBenchRow, type BenchFigure, type BenchRow } from '../bench-row.ts';
import { measureStrangers } from './measure-strangers.ts';
import { measureViewers } from './measure-viewers.ts';

const MEASURES: readonly ((hub: HubProcess) => Promise<BenchFigure[]>)[] = [measureStrangers];

export async function runHostile(): Promise<BenchRow[]> {
  await buildHub();
  const dataDir = await mkdtemp(join(tmpdir(), 'atoll-bench-hostile-'));
  const hub = await startHub({ dataDir, publicHost: '127.0.0.1', environment: 'production' });
  try {
    const rows: BenchRow[] = [];
    for (const measure of MEASURES) rows.push(...(await measure(hub)).map(asBenchRow));
    return [...rows, ...(await measureViewers((line) => console.error(line))).map(asBenchRow)];
  } finally {
    await hub.stop();
    await rm(dataDir, { recursive: true, force: true });
  }
}
