/**
 * Commands beside a running hub: `node -C atoll-dist dist/apps/hub/src/main.js COMMAND`. They read the configuration of the
 * hub from the same environment, talk to its database alone, and end. What a script needs goes to stdout, the rest to stderr.
 */
import { ConfigError, parseHubConfig } from '../platform/config/hub-config.ts';
import { listTokensCommand, replaceTokenCommand, revokeTokenCommand } from './tokens.command.ts';
import { verifyAuditCommand } from './verify-audit.command.ts';
import { type Command, CommandError, ExitCode, type Terminal } from './command.ts';

const COMMANDS: readonly Command[] = [listTokensCommand, replaceTokenCommand, revokeTokenCommand, verifyAuditCommand];

/** Returns the exit code. */
export async function runCommand(
  args: readonly string[],
  environment: Readonly<Record<string, string | undefined>>,
  terminal: Terminal,
): Promise<ExitCode> {
  const command = COMMANDS.find(({ words }) => words.every((word, index) => args[index] === word));
  if (!command) {
    terminal.error(usage());
    return args[0] === '--help' ? ExitCode.DONE : ExitCode.FAILED;
  }
  try {
    const config = parseHubConfig(environment);
    return await command.run(args.slice(command.words.length), config, terminal);
  } catch (error) {
    if (error instanceof CommandError) terminal.error(`${error.message}\n${usageOf(command)}`);
    else if (error instanceof ConfigError) terminal.error(error.message);
    else terminal.error(`${command.words.join(' ')} failed: ${error instanceof Error ? error.message : String(error)}`);
    return ExitCode.FAILED;
  }
}

const usageOf = ({ words, usage: rest }: Command): string => `  ${words.join(' ')} ${rest}`.trimEnd();

const usage = (): string =>
  ['Without arguments: the hub. Beside a running one, with its environment:', ...COMMANDS.map(usageOf)].join('\n');
