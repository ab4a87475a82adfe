import { runCommand } from './commands/run-command.ts';
import { ConfigError, parseHubConfig } from './platform/config/hub-config.ts';
import { explainStartError } from './platform/lifecycle/explain-start-error.ts';
import { divertOutput } from './platform/telemetry/divert-output.ts';
import { createLogger } from './platform/telemetry/logger.ts';

/** Kubernetes kills the pod after 60 s, without a word in the log. */
const STOP_TIMEOUT_MS = 55_000;

const [, , ...args] = process.argv;
if (args.length > 0) {
  const terminal = {
    print: (line: string) => void process.stdout.write(`${line}\n`),
    error: (line: string) => void process.stderr.write(`${line}\n`),
  };
  process.exit(await runCommand(args, process.env, terminal));
}

// From here on nothing is printed past the log.
const log = createLogger('info', 'main');
divertOutput(log, (exitCode) => process.exit(exitCode));

try {
  const { startHub } = await import('./start-hub.ts');
  const hub = await startHub(parseHubConfig(process.env));
  let stopping = false;
  const stop = (): void => {
    if (stopping) return;
    stopping = true;
    setTimeout(() => {
      hub.runtime.log.fatal(
        { code: 'STOP_TIMED_OUT' },
        `the stop has lasted for ${STOP_TIMEOUT_MS / 1_000} s: it is cut off`,
      );
      process.exit(1);
    }, STOP_TIMEOUT_MS).unref();
    hub.close().then(
      () => process.exit(0),
      () => process.exit(1),
    );
  };
  process.on('SIGTERM', stop);
  process.on('SIGINT', stop);
} catch (error) {
  if (error instanceof ConfigError) process.stderr.write(`${error.message}\n`);
  else {
    const advice = explainStartError(error);
    log.fatal({ err: error }, `the hub did not start${advice ? `: ${advice}` : ''}`);
  }
  process.exit(1);
}
