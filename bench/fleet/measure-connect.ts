/** All agents come at once, and all agents come back after the hub was killed: how long until each is proven in sync. */
import type { FleetStage } from './fleet-stage.ts';
import type { SimulatorReport } from './simulator/messages.ts';
import { monotonicMs } from './simulator/messages.ts';
import { sampleUsage, type Span } from './usage-sampler.ts';

const TIMEOUT_MS = 240_000;

export interface Gathering {
  /** From the first WebSocket that the hub accepted until the last agent was in sync. */
  readonly fromFirstAcceptSeconds: number;
  /** The same from the moment when the agents were let go, or the hub was killed. */
  readonly fromBeginSeconds: number;
  readonly peakPerSecond: number;
  /** Agents whose status was proven unchanged by its digest, and those that the hub asked for an inventory. */
  readonly resumed: number;
  readonly notInStep: number;
  readonly failedDials: number;
  readonly simulatorLagMs: number;
  readonly hubCpuSeconds: number;
  readonly postgresCpuSeconds: number;
  readonly span: Span;
}

export async function measureConnectAll(stage: FleetStage): Promise<Gathering> {
  const beganAtMs = monotonicMs();
  stage.simulator.tell({ do: 'reset' });
  stage.simulator.tell({ do: 'dial' });
  return gather(stage, beganAtMs);
}

export async function measureRestart(stage: FleetStage): Promise<Gathering & { readonly startSeconds: number }> {
  stage.simulator.tell({ do: 'reset' });
  const { killedAtMs, hub } = await stage.killAndRestart();
  return { ...(await gather(stage, killedAtMs)), startSeconds: hub.startMs / 1000 };
}

async function gather(stage: FleetStage, beganAtMs: number): Promise<Gathering> {
  const sampler = sampleUsage(stage);
  const before = stage.usages();
  const report = await stage.simulator.until('in sync', (one) => one.inSync === one.agents, TIMEOUT_MS);
  const after = stage.usages();
  await checkTruth(stage);
  const { firstOpenAtMs, allInSyncAtMs } = report;
  if (firstOpenAtMs === null || allInSyncAtMs === null)
    throw new Error('the simulator does not know when it was in sync');
  return {
    fromFirstAcceptSeconds: (allInSyncAtMs - firstOpenAtMs) / 1000,
    fromBeginSeconds: (allInSyncAtMs - beganAtMs) / 1000,
    peakPerSecond: report.peakWelcomesPerSecond,
    resumed: report.statusResumed,
    notInStep: countNotInStep(report),
    failedDials: Object.values(report.failures).reduce((sum, count) => sum + count, 0),
    simulatorLagMs: report.lagMaxMs,
    hubCpuSeconds: after.hub.cpuSeconds - before.hub.cpuSeconds,
    postgresCpuSeconds: after.postgres.cpuSeconds - before.postgres.cpuSeconds,
    span: sampler.end(),
  };
}

const countNotInStep = ({ welcomesByMode }: SimulatorReport): number =>
  Object.entries(welcomesByMode).reduce((sum, [mode, count]) => (mode === 'DELTA' ? sum : sum + count), 0);

/** What the simulator believes is held against what PostgreSQL holds. */
async function checkTruth(stage: FleetStage): Promise<void> {
  const { rows } = await stage.database.query<{ agents: string }>(
    `SELECT count(*) AS agents FROM agent_session AS s JOIN agent_spec_head AS h ON h.agent_id = s.agent_id
     WHERE s.state = 'CONNECTED' AND h.revision = h.acked_revision AND NOT h.inventory_needed`,
  );
  const agents = Number(rows[0]?.agents ?? 0);
  if (agents !== stage.clusters) throw new Error(`PostgreSQL knows ${agents} agents in step, not ${stage.clusters}`);
}
