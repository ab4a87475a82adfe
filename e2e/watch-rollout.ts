/** What the e2e files that restart pods do: change a spec, wait until it is rolled out, count what was restarted. */
import type { LocalCluster } from '../tools/local-kubernetes/index.ts';
import type { LedgerReport } from '../tools/ledger/start-ledger.ts';
import { dataPods, kubectl, listItems, readLocal, waitFor, type LocalRedisCluster, type PodItem } from './member.ts';

export interface RollingRedisCluster extends LocalRedisCluster {
  readonly status?: NonNullable<LocalRedisCluster['status']> & {
    readonly engineVersion?: string;
    readonly renderVersion?: number;
    readonly size?: number;
    readonly rollout?: { readonly updated: number; readonly reason: string; readonly waitingFor: string };
  };
}

/** One RedisCluster of a member cluster. */
export interface Watched {
  readonly cluster: LocalCluster;
  readonly namespace: string;
  readonly name: string;
}

export const readRolling = ({ cluster, namespace, name }: Watched): Promise<RollingRedisCluster | undefined> =>
  readLocal(cluster, namespace, name);

/** A merge patch of the spec; null removes a field. */
export async function patchSpec({ cluster, namespace, name }: Watched, spec: Record<string, unknown>): Promise<void> {
  const patch = JSON.stringify({ spec });
  await kubectl(cluster, ['patch', 'arc', name, '-n', namespace, '--type=merge', '-p', patch]);
}

/** Waits for a rollout that says so, or for another state of one. */
export const waitForRollout = (
  watched: Watched,
  what: string,
  accept: (rollout: { updated: number; reason: string; waitingFor: string }) => boolean,
  timeoutMs = 60_000,
): Promise<RollingRedisCluster> =>
  waitFor(
    `${watched.name}: ${what}`,
    async () => {
      const object = await readRolling(watched);
      const rollout = object?.status?.rollout;
      return rollout !== undefined && accept(rollout) ? object : undefined;
    },
    timeoutMs,
  );

const isRolled = ({ metadata, status }: RollingRedisCluster): boolean => {
  const pending = status?.conditions?.find(({ type }) => type === 'RestartPending')?.status;
  const settled = status?.phase === 'Ready' && status.observedGeneration === metadata.generation;
  return settled && status.rollout === undefined && pending === 'False';
};

/** Ready at its newest generation, and no pod is left to be restarted. */
export const waitRolled = (watched: Watched, timeoutMs = 120_000): Promise<RollingRedisCluster> =>
  waitFor(
    `${watched.name} rolled out`,
    async () => {
      const object = await readRolling(watched);
      return object !== undefined && isRolled(object) ? object : undefined;
    },
    timeoutMs,
  );

export const uidsOf = async ({ cluster, namespace, name }: Watched): Promise<readonly string[]> =>
  (await dataPods(cluster, namespace, name)).map((pod) => pod.metadata.uid);

/** Uid and restarts of every pod of the data set: equal before and after means that nothing was restarted. */
export async function describePods({ cluster, namespace, name }: Watched): Promise<readonly string[]> {
  const pods = await listItems<PodItem>(cluster, namespace, 'pods', `app.kubernetes.io/instance=${name}`);
  return pods
    .map(({ metadata, status }) => {
      const restarts = status.containerStatuses?.map((each) => each.restartCount).join() ?? '';
      return `${metadata.name} ${metadata.uid} ${restarts}`;
    })
    .sort();
}

/** For the log of the run: the figures of a write ledger. */
export function tellFigures(what: string, report: LedgerReport): void {
  const { acknowledged, lost, longestClientGapMs, longestEngineGapMs, errors } = report;
  const gaps = `longest gap ${longestClientGapMs} ms at the client, ${longestEngineGapMs} ms at the engine`;
  console.error(`e2e: ${what}: ${acknowledged} writes, ${lost.length} lost, ${errors} errors, ${gaps}`);
}
