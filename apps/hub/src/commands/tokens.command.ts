/** Tokens, for who may run programs beside the hub: what is live, who brought it, and how one ends. No token is ever printed. */
import { parseArgs, type ParseArgsConfig } from 'node:util';
import { hostname } from 'node:os';
import {
  adminTokenFile,
  type ListedToken,
  listTokens,
  makeToken,
  overwriteToken,
  readAdminToken,
  type Replaced,
  replaceAdminToken,
  revokeToken,
} from '../features/access/index.ts';
import type { HubConfig } from '../platform/config/hub-config.ts';
import { systemClock, systemIds } from '../platform/lifecycle/time-and-ids.ts';
import { type Command, CommandError, ExitCode } from './command.ts';
import { withDatabase } from './command-database.ts';

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
const now = (): Date => new Date(systemClock.nowMs());

export const listTokensCommand: Command = {
  words: ['tokens', 'list'],
  usage: '[--json]',
  async run(args, config, { print }) {
    const { json = false } = read(args, { json: { type: 'boolean' } }).values as { json?: boolean };
    const tokens = await withDatabase(config, 'READ COMMITTED', (tx) => listTokens(tx));
    if (json) print(JSON.stringify(tokens, null, 2));
    else for (const line of toTable(tokens)) print(line);
    return ExitCode.DONE;
  },
};

export const replaceTokenCommand: Command = {
  words: ['tokens', 'replace'],
  usage: '[--new]',
  async run(args, config, { print, error }) {
    const { new: isNew = false } = read(args, { new: { type: 'boolean' } }).values as { new?: boolean };
    const file = adminTokenFile(config);
    const text = await (isNew ? writeNewToken(config) : readAdminToken(config));
    if (text === undefined) throw new CommandError(`there is no ${file}: --new makes a token there`);
    const change = { at: now(), newId: () => systemIds.newId() };
    const token = { text, madeBy: `${file}, tokens replace on ${hostname()}` };
    const done = await withDatabase(config, 'READ COMMITTED', (tx) => replaceAdminToken(tx, token, change));
    if (done.kind !== 'REPLACED') {
      error(`${file}: ${REFUSALS[done.kind]}`);
      return ExitCode.FAULTS;
    }
    print(
      `the token in ${file} (${done.id}) is the only live one of the administrator; ${done.revoked.length} revoked`,
    );
    return ExitCode.DONE;
  },
};

export const revokeTokenCommand: Command = {
  words: ['tokens', 'revoke'],
  usage: 'ID',
  async run(args, config, { print, error }) {
    const [id = '', ...rest] = read(args, {}).positionals;
    if (!UUID.test(id) || rest.length > 0)
      throw new CommandError('give the id of one token, as `tokens list` shows it');
    const done = await withDatabase(config, 'READ COMMITTED', (tx) => revokeToken(tx, id.toLowerCase(), now()));
    if (!done) {
      error(`there is no token ${id}`);
      return ExitCode.FAULTS;
    }
    print(`the token ${id} of ${done.principal} ${done.wasLive ? 'is revoked' : 'was not live any more'}`);
    if (done.liveAdminTokens === 0) error('no administrator has a live token now: `tokens replace` makes one');
    return ExitCode.DONE;
  },
};

const REFUSALS: Readonly<Record<Exclude<Replaced['kind'], 'REPLACED'>, string>> = {
  REVOKED_BY_A_PERSON: 'somebody revoked this token, so it does not come back. Put another one into the file',
  NOT_OF_THE_ADMINISTRATOR: 'this is the token of another principal. Put one of its own into the file',
  EXPIRED: 'this token has expired. Put another one into the file',
  NO_HUB_YET: 'no hub has started on this database yet; its first start takes the token',
};

async function writeNewToken(config: HubConfig): Promise<string> {
  if (config.adminTokenFile !== undefined)
    throw new CommandError(
      '--new is for a token in the data folder; ATOLL_BOOTSTRAP_ADMIN_TOKEN_FILE names another file',
    );
  const token = makeToken((length) => systemIds.randomBytes(length));
  await overwriteToken(config, token);
  return token;
}

function read(
  args: readonly string[],
  options: NonNullable<ParseArgsConfig['options']>,
): { values: object; positionals: string[] } {
  try {
    return parseArgs({ args: [...args], options, allowPositionals: true });
  } catch (error) {
    throw new CommandError((error as Error).message);
  }
}

function toTable(tokens: readonly ListedToken[]): string[] {
  const rows = tokens.map((token) => [
    token.id,
    token.principal,
    token.isAdmin ? 'ADMIN' : '-',
    stateOf(token),
    token.createdAt.toISOString(),
    token.expiresAt?.toISOString() ?? 'never',
    token.madeBy ?? '-',
  ]);
  const table = [['ID', 'PRINCIPAL', 'FLEET', 'STATE', 'MADE AT', 'EXPIRES', 'MADE BY'], ...rows];
  const widths = (table[0] ?? []).map((_, column) => Math.max(...table.map((row) => row[column]?.length ?? 0)));
  return table.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd(),
  );
}

function stateOf({ isLive, revokedFor, revokedAt }: ListedToken): string {
  if (isLive) return 'live';
  if (revokedFor === null) return 'expired';
  return `${revokedFor === 'PERSON' ? 'revoked' : 'replaced'} ${revokedAt?.toISOString() ?? ''}`;
}
