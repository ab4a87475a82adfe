/**
 * How much status the hub commits when it never has to wait for the next: ever more agents tell all of their RedisClusters
 * again as soon as the last batch is acknowledged, as in a full resync. The ceiling is the most that was
 * committed while the acks still came within a second.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { percentile } from '../bench-row.ts';
import type { FleetStage } from './fleet-stage.ts';
import { measureWhile } from './measure-steady.ts';

const STEPS = [10, 40, 160, 640];
const WARM_UP_MS = 2_000;
const WATCH_MS = 5_000;
const SLOWEST_ACK_MS = 1_000;

export interface IngestStep {
  readonly agents: number;
  readonly itemsPerSecond: number;
  readonly ackP50Ms: number;
  readonly ackP99Ms: number;
  readonly hubCore: number;
  readonly postgresCore: number;
  readonly walBytesPerSecond: number;
}

export async function measureIngest(stage: FleetStage): Promise<readonly IngestStep[]> {
  const steps: IngestStep[] = [];
  for (const agents of STEPS.filter((count) => count <= stage.clusters)) {
    stage.simulator.tell({ do: 'flood', agents });
    await sleep(WARM_UP_MS);
    stage.simulator.tell({ do: 'reset' });
    const { result, span, walBytesPerSecond } = await measureWhile(stage, async () => {
      await sleep(WATCH_MS);
      return stage.simulator.report();
    });
    const samples = result.statusLatenciesMs.length > 0 ? result.statusLatenciesMs : [Infinity];
    steps.push({
      agents,
      itemsPerSecond: result.statusItemsAcked / span.seconds,
      ackP50Ms: percentile(samples, 0.5),
      ackP99Ms: percentile(samples, 0.99),
      hubCore: span.hubCore,
      postgresCore: span.postgresCore,
      walBytesPerSecond,
    });
    if ((steps.at(-1)?.ackP99Ms ?? 0) > SLOWEST_ACK_MS) break;
  }
  stage.simulator.tell({ do: 'flood', agents: 0 });
  await stage.simulator.until('through with its status', (report) => report.statusItemsWaiting === 0, 60_000);
  return steps;
}

/** The best step whose acks came in time; the first one where none did. */
export function findCeiling(steps: readonly IngestStep[]): IngestStep {
  const inTime = steps.filter((step) => step.ackP99Ms <= SLOWEST_ACK_MS);
  const best = inTime.reduce<IngestStep | undefined>(
    (most, step) => (most === undefined || step.itemsPerSecond > most.itemsPerSecond ? step : most),
    undefined,
  );
  const step = best ?? steps[0];
  if (step === undefined) throw new Error('no step of the status load was run');
  return step;
}
