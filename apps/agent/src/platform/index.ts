/** What the agent stands on: configuration, log, metrics, health, own definition. Wiring, no rules of Redis. */
export { type AgentConfig, ConfigError, parseAgentConfig } from './agent-config.ts';
export { type HealthServer, type HttpQuestion, type HttpReply, startHealthServer } from './health-server.ts';
export { createLog, type Log } from './logger.ts';
export { createMetrics, type LabelledValue, type Metrics, renderFamilies } from './metrics.ts';
export {
  keepOwnDefinition,
  type OwnDefinition,
  REDIS_CLUSTER_DEFINITION,
  REDIS_OPERATION_DEFINITION,
} from './own-definition.ts';
export { addProcessMetrics } from './process-metrics.ts';
export { systemClock } from './system-clock.ts';
