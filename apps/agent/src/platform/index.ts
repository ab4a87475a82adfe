/** What the agent stands on: configuration, log, metrics, health, own definition. Wiring, no rules of Redis. */
export { type AgentConfig, ConfigError, parseAgentConfig } from './agent-config.ts';
export { type HealthServer, startHealthServer } from './health-server.ts';
export { createLog, type Log } from './logger.ts';
export { createMetrics, type Metrics } from './metrics.ts';
export {
  keepOwnDefinition,
  type OwnDefinition,
  REDIS_CLUSTER_DEFINITION,
  REDIS_OPERATION_DEFINITION,
} from './own-definition.ts';
export { addProcessMetrics } from './process-metrics.ts';
export { systemClock } from './system-clock.ts';
