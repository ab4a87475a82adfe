/**
 * Keeps the last figures of each size and form, so that a table of all of them can be measured in several runs: a run of
 * all at once takes half an hour. Ignored by git.
 */
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { cpus, totalmem } from 'node:os';
import { join } from 'node:path';
import type { TlsForm } from './fleet-stage.ts';
import { toRows } from './fleet-rows.ts';
import type { FleetFigures } from './fleet-run.ts';
import { formatFigures } from './format-figures.ts';
import { growthRows } from './growth-rows.ts';

export const RESULTS_FOLDER = '.atoll/bench';
export const FORM_NAME: Readonly<Record<TlsForm, string>> = {
  hub: 'TLS in the hub',
  haproxy: 'TLS ended by HAProxy',
};
const FORMS: readonly TlsForm[] = ['hub', 'haproxy'];

type Stored = FleetFigures & { readonly at: string };

/** Puts this run's figures in the place of older ones of the same size and form, in fleet.json and fleet.md. */
export async function storeFigures(figures: FleetFigures): Promise<void> {
  await mkdir(RESULTS_FOLDER, { recursive: true });
  const others = (await readStored()).filter((one) => one.clusters !== figures.clusters || one.tls !== figures.tls);
  const runs: Stored[] = [...others, { at: new Date().toISOString(), ...figures }].sort(
    (a, b) => FORMS.indexOf(a.tls) - FORMS.indexOf(b.tls) || a.clusters - b.clusters,
  );
  const rows = runs.flatMap(toRows);
  const growth = FORMS.flatMap((tls) => growthOf(runs, tls));
  const machine = { cores: cpus().length, cpu: cpus()[0]?.model, memoryMib: Math.round(totalmem() / 1024 / 1024) };
  const report = { machine, rows: [...rows, ...growth], runs };
  await writeFile(join(RESULTS_FOLDER, 'fleet.json'), `${JSON.stringify(report, undefined, 1)}\n`);
  const parts = [rows, growth].filter((part) => part.length > 0).map(formatFigures);
  await writeFile(join(RESULTS_FOLDER, 'fleet.md'), `${parts.join('\n\n')}\n`);
}

export const growthOf = (runs: readonly FleetFigures[], tls: TlsForm): ReturnType<typeof growthRows> =>
  growthRows(
    runs.filter((run) => run.tls === tls),
    `growth, ${FORM_NAME[tls]}`,
  );

async function readStored(): Promise<readonly Stored[]> {
  try {
    const text = await readFile(join(RESULTS_FOLDER, 'fleet.json'), 'utf8');
    return (JSON.parse(text) as { readonly runs: readonly Stored[] }).runs;
  } catch {
    return []; // none yet, or of another form
  }
}
