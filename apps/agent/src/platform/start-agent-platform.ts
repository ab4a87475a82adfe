/**
 * Everything the agent stands on, started in order: configuration, log, connection, health, Lease, own definition. The
 * rest of the agent gets it as one value. Rejects only for a wrong configuration or a taken port: an API server that is
 * away is waited for.
 */
import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { AGENT_LEASE, type Clock, type Scope } from '#domain';
import {
  createKubeClient,
  type KubeClient,
  type LeaseElector,
  type LeaseLostReason,
  loadKubeConnection,
  startLeaseElector,
} from '#kube';
import { type AgentConfig, parseAgentConfig } from './agent-config.ts';
import { type HealthServer, startHealthServer } from './health-server.ts';
import { createLog, type Log, type LogSink } from './logger.ts';
import { createMetrics, type Metrics } from './metrics.ts';
import { keepOwnDefinition, type OwnDefinition } from './own-definition.ts';
import { addProcessMetrics } from './process-metrics.ts';
import { systemClock } from './system-clock.ts';

export interface LeaseListener {
  readonly onAcquired: () => void;
  /** EXPIRED: the API server is away and another may take over; write nothing, keep the link (03 rule 10). */
  readonly onLost: (reason: LeaseLostReason) => void;
}

export interface AgentPlatform {
  readonly config: AgentConfig;
  readonly version: string;
  /** Random per process. */
  readonly instanceId: string;
  readonly scope: Scope;
  /** Where the agent itself runs. */
  readonly namespace: string;
  readonly podName: string;
  readonly log: Log;
  readonly clock: Clock;
  readonly client: KubeClient;
  readonly metrics: Metrics;
  readonly health: HealthServer;
  readonly definition: OwnDefinition;
  /** The fence (03 rule 15): ask right before each write. False before the election has been started. */
  readonly mayWrite: () => boolean;
  /** Once; listeners are called from then on until `stop`. */
  startElection(listener: LeaseListener): LeaseElector;
  /** Gives the Lease back, then ends everything. Stop whoever writes before calling it. */
  stop(): Promise<void>;
}

export interface AgentPlatformOptions {
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly version: string;
  /** Default stdout. */
  readonly logSink?: LogSink;
}

export async function startAgentPlatform(options: AgentPlatformOptions): Promise<AgentPlatform> {
  const { version } = options;
  const config = parseAgentConfig(options.environment);
  const podName = config.podName ?? hostname();
  const log = createLog(config.logLevel, { pod: podName }, options.logSink);
  log('info', 'configuration', { version, config });
  const connection = await loadKubeConnection({
    env: options.environment,
    ...(config.kubeconfigPath !== undefined && { kubeconfigPath: config.kubeconfigPath }),
    ...(config.kubeContext !== undefined && { context: config.kubeContext }),
  });
  const namespace = config.namespace ?? connection.namespace;
  log('info', 'member cluster', { server: connection.server, source: connection.source, namespace });
  const client = createKubeClient(connection, { userAgent: `atoll-agent/${version}` });
  const metrics = createMetrics();
  addProcessMetrics(metrics, version);
  const health = await startHealthServer({ port: config.healthPort, renderMetrics: metrics.render });
  log('info', 'health', { port: health.port });
  const scope: Scope = config.scopeKind === 'CLUSTER' ? { kind: 'CLUSTER' } : { kind: 'NAMESPACE', namespace };
  const facts = { config, version, instanceId: randomUUID(), scope, namespace, podName };
  return assemble({ ...facts, log, clock: systemClock, client, metrics, health });
}

type Parts = Omit<AgentPlatform, 'definition' | 'mayWrite' | 'startElection' | 'stop'>;

function assemble(parts: Parts): AgentPlatform {
  const { client, log, health } = parts;
  const electionEnd = new AbortController();
  const definitionEnd = new AbortController();
  let elector: LeaseElector | undefined;
  const mayWrite = (): boolean => elector?.leaseIsYoungerThan() ?? false;
  const definition = keepOwnDefinition({
    client,
    log,
    manage: parts.config.manageCrds,
    mayWrite,
    signal: definitionEnd.signal,
  });
  watchOver(parts, definition, () => elector);
  return {
    ...parts,
    definition,
    mayWrite,
    startElection(listener) {
      if (elector !== undefined) throw new Error('the election has been started already');
      elector = elect(parts, electionEnd.signal, listener);
      return elector;
    },
    async stop() {
      definitionEnd.abort();
      electionEnd.abort();
      await Promise.all([definition.done, elector?.done]);
      await Promise.all([health.close(), client.close()]);
    },
  };
}

function elect(parts: Parts, signal: AbortSignal, listener: LeaseListener): LeaseElector {
  const { client, clock, log, namespace, podName, instanceId } = parts;
  return startLeaseElector({
    client,
    namespace,
    name: AGENT_LEASE,
    identity: `${podName}_${instanceId}`,
    clock,
    signal,
    onAcquired() {
      log('info', 'lease acquired');
      listener.onAcquired();
    },
    onLost(reason) {
      log(reason === 'RELEASED' ? 'info' : 'warn', 'lease lost', { reason });
      listener.onLost(reason);
    },
    onFailure: (error) => log('warn', 'lease not renewed', { error }),
  });
}

function watchOver(
  { health, metrics, log }: Parts,
  definition: OwnDefinition,
  elector: () => LeaseElector | undefined,
): void {
  health.addReadinessCheck({
    name: 'lease',
    whyNot: () => (elector()?.observedHolder === undefined ? 'nobody is known to hold the lease yet' : undefined),
  });
  let isServed = false;
  const served = () => {
    isServed = true;
  };
  definition.whenServed.then(served, () => undefined).catch((error: unknown) => log('error', 'readiness', { error }));
  health.addReadinessCheck({
    name: 'definition',
    whyNot: () => (isServed ? undefined : `RedisCluster is not served: ${definition.state?.kind ?? 'not seen yet'}`),
  });
  metrics.gaugeOf('atoll_agent_lease_held', '1 while this process holds the lease.', () =>
    elector()?.isHolder ? 1 : 0,
  );
}
