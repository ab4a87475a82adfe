/**
 * Sets directives on one server although some of them may be refused. A CONFIG SET of many is atomic, so one bad value
 * refuses all: the server names the culprit, the rest is sent again without it. Afterwards the values are read back,
 * since some are taken and changed silently (hz 501 becomes 500). Only a refusal that speaks of a directive counts as
 * one; a server that loads or is busy refuses everything, which says nothing about the values. Words are sent with one space
 * between them: a configuration file takes more, CONFIG SET save does not.
 */
import { setOwnValue } from '#domain';
import type { RedisCommand } from './assert-command-allowed.ts';
import { parsePairs } from './parse-pairs.ts';
import { RedisCallError } from './redis-call-error.ts';
import type { Reply } from './standing-connection.ts';

type Values = Readonly<Record<string, string>>;

export interface AppliedConfig {
  /** The server's words by directive, shortened; nothing of it was set. */
  readonly refused: Values;
  /** What the server runs now, of those that were taken. */
  readonly live: Values;
}

const CULPRIT = /possibly related to argument '([^']+)'|CONFIG SET - '([^']+)'/;
const MAX_REASON = 160;

/** Throws RedisCallError when the server gives no answer, or one that speaks of no directive. */
export const applyConfig = async (
  send: (command: RedisCommand) => Promise<readonly Reply[]>,
  values: Values,
): Promise<AppliedConfig> => {
  const refused: Record<string, string> = {};
  let rest = Object.entries(values).map(([name, value]) => [name, value.trim().replace(/\s+/g, ' ')] as const);
  while (rest.length > 0) {
    const [reply] = await send(['CONFIG', 'SET', ...rest.flat()]);
    if (reply?.ok === true) break;
    const error = reply?.error ?? '';
    const culprit = findCulprit(error, rest);
    if (culprit === undefined) throw new RedisCallError('OTHER', error.split(' ')[0]);
    setOwnValue(refused, culprit, sayReason(error));
    rest = rest.filter(([name]) => name !== culprit);
  }
  return { refused, live: await readBack(send, rest) };
};

const readBack = async (
  send: (command: RedisCommand) => Promise<readonly Reply[]>,
  rest: readonly (readonly [string, string])[],
): Promise<Values> => {
  if (rest.length === 0) return {};
  const [reply] = await send(['CONFIG', 'GET', ...rest.map(([name]) => name)]);
  return reply?.ok === true ? { ...parsePairs(reply.value) } : {};
};

/** By the server's word; a single directive is its own culprit. */
const findCulprit = (error: string, rest: readonly (readonly [string, string])[]): string | undefined => {
  if (!/^ERR /.test(error)) return undefined;
  const named = readNamed(error);
  const found = rest.find(([name]) => name.toLowerCase() === named);
  const only = rest.length === 1 && /CONFIG SET/.test(error) ? rest[0] : undefined;
  return (found ?? only)?.[0];
};

const readNamed = (error: string): string | undefined => {
  const match = CULPRIT.exec(error);
  return (match?.[1] ?? match?.[2])?.toLowerCase();
};

/** Without the prefix that says which command it was. */
const sayReason = (error: string): string => {
  const [, said] = / - (.*)$/s.exec(error) ?? [];
  const text = /Unknown option/.test(error) ? 'unknown directive, or a wrong number of arguments' : (said ?? error);
  return text.slice(0, MAX_REASON);
};
