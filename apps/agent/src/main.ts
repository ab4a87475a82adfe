/** The agent's process: reads the configuration, runs, and ends by SIGTERM, SIGINT, or a fault of its own. */
import './platform/prefer-small-heap.ts';
import { describeError } from '#domain';
import { ConfigError, createLog, parseAgentConfig } from './platform/index.ts';
import { runAgent } from './run-agent.ts';
import type { RunningAgent } from './run-agent.ts';

/** Replaced by the bundler; outside a bundle there is no release. */
const version = process.env['ATOLL_BUILD_VERSION'] ?? 'dev';
/** A pod is killed 30 s after SIGTERM. */
const STOP_WITHIN_MS = 20_000;

const main = async (): Promise<void> => {
  const config = parseAgentConfig(process.env);
  const log = createLog(config.logLevel, {});
  // A fault that nobody caught leaves a state that nobody knows: end, and start anew from what Kubernetes and Redis hold.
  const crash = (error: unknown): void => {
    log('error', 'unexpected fault, the process ends', {
      error,
      stack: describeError(error).stack,
    });
    process.exit(1);
  };
  process.on('unhandledRejection', crash);
  process.on('uncaughtException', crash);
  const agent = await runAgent(config, version, log);
  const stop = (signal: string): void => {
    log('info', 'agent stops', { signal });
    stopWithin(agent).then((intime) => process.exit(intime ? 0 : 1), crash);
  };
  process.once('SIGTERM', () => stop('SIGTERM'));
  process.once('SIGINT', () => stop('SIGINT'));
};

const stopWithin = (agent: RunningAgent): Promise<boolean> =>
  Promise.race([
    agent.stop().then(() => true),
    new Promise<boolean>((resolve) => setTimeout(() => resolve(false), STOP_WITHIN_MS)),
  ]);

main().catch((error: unknown) => {
  const text = error instanceof Error ? error.message : String(error);
  createLog('error', {})('error', error instanceof ConfigError ? text : `the agent cannot start: ${text}`);
  process.exit(1);
});
