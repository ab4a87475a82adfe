import { join } from 'node:path';
import { parseAllDocuments } from 'yaml';
import { ensureHelm } from '../setup/ensure-helm.ts';
import { runCommand, tryCommand, type CommandResult } from '../setup/run-command.ts';

export type ChartName = 'atoll-agent' | 'atoll-crds' | 'atoll-hub';

/** A rendered object; deep fields are read by path in the specs. */
export interface Rendered {
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly labels?: Readonly<Record<string, string>> };
  readonly [field: string]: unknown;
}

const chartFolder = (chart: ChartName): string => join(import.meta.dirname, '..', '..', 'helm', chart);

/** Runs `helm lint --strict`; throws with its words when it fails. */
export const lintChart = async (chart: ChartName): Promise<void> => {
  await runCommand([await ensureHelm(), 'lint', '--strict', chartFolder(chart)]);
};

const template = async (chart: ChartName, values: readonly string[]): Promise<CommandResult> => {
  const sets = values.flatMap((value) => ['--set-json', value]);
  const helm = await ensureHelm();
  return tryCommand([helm, 'template', chart, chartFolder(chart), '--namespace', 'atoll-system', ...sets]);
};

/** The objects of a chart; `values` are `path=JSON`. Throws when Helm or the values schema refuses. */
export const renderChart = async (chart: ChartName, values: readonly string[] = []): Promise<readonly Rendered[]> => {
  const { stdout, stderr, exitCode } = await template(chart, values);
  if (exitCode !== 0) throw new Error(stderr);
  return parseAllDocuments(stdout)
    .map((document) => document.toJS() as Rendered | null)
    .filter((object) => object !== null);
};

/** What Helm says to values that must be refused; throws when it takes them. */
export const explainRefusal = async (chart: ChartName, values: readonly string[]): Promise<string> => {
  const { stderr, exitCode } = await template(chart, values);
  if (exitCode === 0) throw new Error(`${chart} takes ${values.join(' ')}`);
  return stderr;
};
