/**
 * The composition root: connection → health → definition → Lease → operator and link. Nothing outside can end the
 * process: an API server or a hub that is away is waited for, for ever, and liveness stays good meanwhile.
 */
import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { AGENT_LEASE, formatScopeOwner } from '#domain';
import type { Scope } from '#domain';
import { createKubeClient, loadKubeConnection } from '#kube';
import type { KubeClient } from '#kube';
import { useTestProxy } from '#redis';
import { addAgentMetrics, countApiRequests } from './agent-metrics.ts';
import { exporterRoutes } from './exporter-routes.ts';
import { Lead } from './lead.ts';
import { Leadership } from './leadership.ts';
import type { LinkSettings } from './link/index.ts';
import { STALE_AFTER_MS } from './observe/index.ts';
import {
  addProcessMetrics,
  createMetrics,
  keepOwnDefinition,
  REDIS_CLUSTER_DEFINITION,
  REDIS_OPERATION_DEFINITION,
  startHealthServer,
  systemClock,
} from './platform/index.ts';
import type { AgentConfig, HealthServer, Log, Metrics } from './platform/index.ts';

export interface RunningAgent {
  /** Ends the work, releases the Lease, closes what is open. */
  stop(): Promise<void>;
}

export const runAgent = async (config: AgentConfig, version: string, log: Log): Promise<RunningAgent> => {
  const connection = await loadKubeConnection({
    ...(config.kubeconfigPath === undefined ? {} : { kubeconfigPath: config.kubeconfigPath }),
    ...(config.kubeContext === undefined ? {} : { context: config.kubeContext }),
  });
  const metrics = createMetrics();
  const client = createKubeClient(connection, {
    userAgent: `atoll-agent/${version}`,
    onAnswer: countApiRequests(metrics),
  });
  useTestProxy(config.testRedisProxy);
  const namespace = config.namespace ?? connection.namespace;
  const scope: Scope = config.scopeKind === 'CLUSTER' ? { kind: 'CLUSTER' } : { kind: 'NAMESPACE', namespace };
  const instanceId = randomBytes(8).toString('hex');
  const podName = config.podName ?? hostname();
  const link = await readLinkSettings(config, { version, instanceId, scope, namespace }, log);
  log('info', 'agent starts', {
    version,
    server: client.server,
    namespace,
    scope: formatScopeOwner(scope),
    hub: link?.hubAddress ?? 'none',
  });
  return compose({
    config,
    version,
    log,
    client,
    metrics,
    scope,
    namespace,
    identity: `${podName}_${instanceId}`,
    podName,
    link,
  });
};

interface Parts {
  readonly config: AgentConfig;
  readonly version: string;
  readonly log: Log;
  readonly client: KubeClient;
  readonly metrics: Metrics;
  readonly scope: Scope;
  readonly namespace: string;
  readonly identity: string;
  readonly podName: string;
  readonly link: LinkSettings | undefined;
}

const compose = async (parts: Parts): Promise<RunningAgent> => {
  const { config, client, metrics, log, scope, podName, link } = parts;
  const clock = systemClock;
  const abort = new AbortController();
  let lead: Lead | undefined;
  addProcessMetrics(metrics, parts.version);
  const told = addAgentMetrics(
    metrics,
    () => lead,
    () => leadership.mayWrite(),
  );
  const health = await startHealthServer({
    port: config.healthPort,
    renderMetrics: () => metrics.render(),
    routes: exporterRoutes(() => lead?.operator.exporter),
  });
  const mayWrite = (): boolean => leadership.mayWrite();
  const { signal } = abort;
  const definitions = { client, log, signal, manage: config.manageCrds, mayWrite };
  const definition = keepOwnDefinition({ ...definitions, definition: REDIS_CLUSTER_DEFINITION });
  const operations = keepOwnDefinition({ ...definitions, definition: REDIS_OPERATION_DEFINITION });
  const leadership: Leadership = new Leadership({
    client,
    clock,
    log,
    namespace: parts.namespace,
    name: AGENT_LEASE,
    identity: parts.identity,
    start: async () => {
      const { namespaces } = config.limits;
      const settings = {
        client,
        clock,
        log,
        scope,
        namespaces,
        podName,
        definition,
        mayWrite,
        ...testGrace(config, log),
      };
      lead = await Lead.start({ ...settings, ...told, ...(link === undefined ? {} : { link }) }, signal);
    },
    stop: async () => {
      const ending = lead;
      lead = undefined;
      await ending?.stop();
    },
  });
  addReadinessChecks(health, leadership, () => lead);
  return {
    stop: async () => {
      abort.abort();
      await leadership.stop();
      await Promise.all([definition.done, operations.done, health.close()]);
      await client.close();
    },
  };
};

/** Said at each start: with it a pod whose Secret lags can be locked out. */
const testGrace = ({ gracePeriodMs }: AgentConfig, log: Log): Pick<AgentConfig, 'gracePeriodMs'> => {
  if (gracePeriodMs === undefined) return {};
  log('warn', 'ATOLL_TEST_GRACE_SECONDS is set: old passwords go sooner than is safe; for tests only', {
    gracePeriodMs,
  });
  return { gracePeriodMs };
};

const addReadinessChecks = (health: HealthServer, leadership: Leadership, lead: () => Lead | undefined): void => {
  health.addReadinessCheck({
    name: 'lease',
    whyNot: () => (leadership.holder === undefined ? 'the Lease was not seen yet' : undefined),
  });
  health.addReadinessCheck({
    name: 'operator',
    whyNot: () => {
      if (!leadership.leads) return undefined;
      const operator = lead()?.operator;
      if (operator === undefined) return 'waiting for the definition of RedisCluster';
      const stale = operator.cache.staleKinds(STALE_AFTER_MS);
      return stale.length === 0 ? undefined : `the API server is not heard of ${stale.join(', ')}`;
    },
  });
};

const readLinkSettings = async (
  config: AgentConfig,
  own: { version: string; instanceId: string; scope: Scope; namespace: string },
  log: Log,
): Promise<LinkSettings | undefined> => {
  if (config.hub === undefined) return undefined;
  const hubCa = await readIfPresent(config.hub.caFile, log);
  const enrolmentToken = await readIfPresent(config.hub.enrolmentTokenFile, log);
  return {
    hubAddress: config.hub.address,
    agentVersion: own.version,
    instanceId: own.instanceId,
    scope: own.scope,
    namespace: own.namespace,
    limits: config.limits,
    ...(hubCa === undefined ? {} : { hubCa }),
    ...(enrolmentToken === undefined ? {} : { enrolmentToken }),
  };
};

/** Both files are needed for enrolment only: an enrolled agent has what it needs in its identity Secret. */
const readIfPresent = async (file: string | undefined, log: Log): Promise<string | undefined> => {
  if (file === undefined) return undefined;
  try {
    return (await readFile(file, 'utf8')).trim() || undefined;
  } catch (error) {
    log('warn', 'file not read; it is needed only until this agent is enrolled', { file, error });
    return undefined;
  }
};
