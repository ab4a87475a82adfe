/** What the agent stands on: configuration, log, metrics, health, Lease, own definition. Wiring, no rules of Redis. */
export { type AgentConfig, ConfigError, parseAgentConfig } from './agent-config.ts';
export type { HealthServer, ReadinessCheck } from './health-server.ts';
export type { Log, LogLevel } from './logger.ts';
export type { Counter, Gauge, Histogram, Metrics } from './metrics.ts';
export type { OwnDefinition } from './own-definition.ts';
export { type HubFiles, readHubFiles } from './read-hub-files.ts';
export {
  type AgentPlatform,
  type AgentPlatformOptions,
  type LeaseListener,
  startAgentPlatform,
} from './start-agent-platform.ts';
export { exitOnBugs, whenTerminationIsAsked } from './termination.ts';
