/** One fleet of one size in one form of TLS, from the seed to the last figure. */
import { measureConnectAll, measureRestart, type Gathering } from './measure-connect.ts';
import { FleetChanger } from './measure-change.ts';
import { measureIngest, type IngestStep } from './measure-ingest.ts';
import { measureQueries, type QueryFigures, type QueryName } from './measure-queries.ts';
import { measureSteady, measureWhile, type Steady } from './measure-steady.ts';
import { startStage, type FleetStage, type StageOptions, type TlsForm } from './fleet-stage.ts';
import type { Span } from './usage-sampler.ts';

/** The status load under which a change is measured again. */
export const LOAD_PER_SECOND = 1_000;
const SETTLE_MS = 20_000;
const LOAD_WARM_UP_MS = 3_000;

export interface FleetFigures {
  readonly clusters: number;
  readonly tls: TlsForm;
  readonly seedSeconds: number;
  readonly connect: Gathering;
  readonly steady: Steady;
  readonly queries: Readonly<Record<QueryName, QueryFigures>>;
  readonly changeIdleMs: readonly number[];
  readonly changeLoadedMs: readonly number[];
  readonly loaded: { readonly span: Span; readonly walBytesPerSecond: number; readonly itemsPerSecond: number };
  readonly ingest: readonly IngestStep[];
  readonly restart: Gathering & { readonly startSeconds: number };
  readonly databaseEndMib: number;
}

export async function runOneFleet(options: StageOptions): Promise<FleetFigures> {
  const { clusters, tls, log } = options;
  const stage = await startStage(options);
  try {
    log('all agents dial');
    const connect = await measureConnectAll(stage);
    log(`all in sync after ${connect.fromFirstAcceptSeconds.toFixed(1)} s; steady state`);
    const steady = await measureSteady(stage, SETTLE_MS);
    log('queries');
    const queries = await measureQueries(stage);
    const changer = new FleetChanger(stage);
    log('changes, idle');
    const changeIdleMs = await changer.measure();
    log(`changes, ${LOAD_PER_SECOND} status changes a second`);
    const { changeLoadedMs, ...loaded } = await measureLoaded(stage, changer);
    log('status ingest');
    const ingest = await measureIngest(stage);
    log('hub killed and started again');
    const restart = await measureRestart(stage);
    const { databaseMib: databaseEndMib } = await measureSteadySize(stage);
    return {
      clusters,
      tls,
      seedSeconds: stage.seedSeconds,
      connect,
      steady,
      queries,
      changeIdleMs,
      changeLoadedMs,
      loaded,
      ingest,
      restart,
      databaseEndMib,
    };
  } finally {
    await stage.stop();
  }
}

async function measureSteadySize({ database }: FleetStage): Promise<{ readonly databaseMib: number }> {
  const { rows } = await database.query<{ bytes: string }>('SELECT pg_database_size(current_database()) AS bytes');
  return { databaseMib: Number(rows[0]?.bytes ?? 0) / 1024 / 1024 };
}

async function measureLoaded(
  stage: FleetStage,
  changer: FleetChanger,
): Promise<FleetFigures['loaded'] & { readonly changeLoadedMs: readonly number[] }> {
  stage.simulator.tell({ do: 'load', changesPerSecond: LOAD_PER_SECOND });
  await new Promise((resolve) => setTimeout(resolve, LOAD_WARM_UP_MS));
  stage.simulator.tell({ do: 'reset' });
  const { result, span, walBytesPerSecond } = await measureWhile(stage, () => changer.measure());
  const report = await stage.simulator.report();
  stage.simulator.tell({ do: 'load', changesPerSecond: 0 });
  await stage.simulator.until('through with its status', (one) => one.statusItemsWaiting === 0, 60_000);
  const itemsPerSecond = report.statusItemsAcked / span.seconds;
  return { changeLoadedMs: result, span, walBytesPerSecond, itemsPerSecond };
}
