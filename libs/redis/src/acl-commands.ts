/**
 * Sets users on one server, data node or Sentinel. Each user in one ACL SETUSER, which is atomic: a connected client of
 * that user notices nothing. Passwords go as SHA-256. Rules that the server refuses leave the user's rules as they are and
 * are booked as refused, so that one bad rule neither stops the others nor is sent for ever. Then ACL SAVE, which makes a
 * later ACL LOAD by hand harmless; a server without a writable ACL file refuses that, and loses nothing by it.
 */
import { ownValue } from '#domain';
import type { AclUserSeen } from '#domain';
import {
  BOOK_USER,
  digestRules,
  hashPassword,
  judgeUsers,
  parseAclList,
  readBook,
  readConnections,
  refusalMark,
} from './acl-facts.ts';
import type { AclExpectation, AclLine, ExpectedUser } from './acl-facts.ts';
import type { RedisCommand } from './assert-command-allowed.ts';
import { done, refused } from './command-outcome.ts';
import type { CommandOutcome } from './command-outcome.ts';
import { parseInfo, readInfoNumber } from './parse-info.ts';
import { parsePairs } from './parse-pairs.ts';
import type { Reply } from './standing-connection.ts';

export type Send = (commands: readonly RedisCommand[], maxReplyBytes?: number) => Promise<readonly Reply[]>;

export interface AclSeen {
  readonly users: Readonly<Record<string, AclUserSeen>>;
  /** Logs in at its peers with the password that is current. */
  readonly peerLoginCurrent: boolean;
}

/** Where a server keeps the password that it logs in with at its peers. Its answer is compared here and goes nowhere. */
const PEER_LOGIN: Readonly<Record<'redis' | 'sentinel', RedisCommand>> = {
  redis: ['CONFIG', 'GET', 'masterauth'],
  sentinel: ['SENTINEL', 'CONFIG', 'GET', 'sentinel-pass'],
};

/** A line of CLIENT LIST has some 400 bytes, of which a client chooses its name. */
const MAX_LISTED_CLIENTS = 16_000;
const MAX_LIST_BYTES = 8 * 1024 * 1024;

/** undefined: the server does not tell. With `clients`, who is connected as whom too. */
export const readAcl = async (
  send: Send,
  component: 'redis' | 'sentinel',
  expectation: AclExpectation,
  clients: boolean,
): Promise<AclSeen | undefined> => {
  const [list, login] = await send([['ACL', 'LIST'], PEER_LOGIN[component]]);
  if (list?.ok !== true) return undefined;
  const users = Object.entries(judgeUsers(parseAclList(list.value), expectation));
  const connectionsOf = clients ? await readClients(send) : () => ({});
  const [password] = Object.values(parsePairs(login?.ok === true ? login.value : undefined));
  return {
    users: Object.fromEntries(users.map(([name, seen]) => [name, { ...seen, ...connectionsOf(name) }])),
    peerLoginCurrent: password !== undefined && hashPassword(password) === expectation.peerLogin,
  };
};

/** Who is connected, by user. The list is asked for only where it is known to be of a size that can be read. */
const readClients = async (send: Send): Promise<(user: string) => Partial<AclUserSeen>> => {
  if ((await countClients(send)) > MAX_LISTED_CLIENTS) return () => NOT_LISTED;
  const [listed] = await send([['CLIENT', 'LIST']], MAX_LIST_BYTES);
  const byUser = readConnections(listed?.ok === true ? listed.value : undefined);
  return (user) => ownValue(byUser, user) ?? {};
};

/** Of too many clients to list: each user may still have one from before, so a rotation waits for a person. */
const NOT_LISTED = { connections: 0, oldestConnectionSeconds: Number.MAX_SAFE_INTEGER, oldest: [] } as const;

const countClients = async (send: Send): Promise<number> => {
  const [info] = await send([['INFO', 'clients']]);
  const text = info?.ok === true && typeof info.value === 'string' ? info.value : '';
  return readInfoNumber(parseInfo(text), 'connected_clients', 0);
};

/** Sets `names` of the expectation and deletes `remove`. */
export const setUsers = async (
  send: Send,
  { users }: AclExpectation,
  names: readonly string[],
  remove: readonly string[],
): Promise<CommandOutcome> => {
  const chosen = names.flatMap((name) => {
    const user = ownValue(users, name);
    return user === undefined ? [] : [[name, user] as const];
  });
  const replies = await send([
    ...chosen.map(([name, user]): RedisCommand => ['ACL', 'SETUSER', name, 'reset', ...wordsOf(user)]),
    ...remove.map((name): RedisCommand => ['ACL', 'DELUSER', name]),
    ['ACL', 'LIST'],
  ]);
  const before = readLines(replies.at(-1));
  if (before === undefined) return refused('ACL_NOT_READ', 'The server does not list its users.');
  const failed = chosen.filter((_, index) => replies[index]?.ok !== true).map(([name]) => name);
  const lines = failed.length === 0 ? before : await setPasswordsOnly(send, chosen, failed, before);
  const book = { ...readBook(lines), ...Object.fromEntries(chosen.map((entry) => bookEntry(entry, failed, lines))) };
  const kept = Object.entries(book).filter(([name]) => !remove.includes(name));
  const patterns = kept.map(([name, digest]) => `~${name}=${digest}`);
  const [booked] = await send([
    ['ACL', 'SETUSER', BOOK_USER, 'reset', 'off', 'resetchannels', '-@all', ...patterns],
    ['ACL', 'SAVE'],
  ]);
  return booked?.ok === true ? done : refused('SERVER_REFUSED', 'The server refused to set its users.');
};

const hashesOf = ({ current, next, previous }: ExpectedUser): string[] =>
  [current, next, previous].flatMap((hash) => (hash === undefined ? [] : [`#${hash}`]));

/** Unbalanced brackets are never sent: of an ACL file they end the server (seen on 7.0 and 8.1). */
const wordsOf = (user: ExpectedUser): string[] => {
  const rules = user.rules.split(' ').filter((word) => word !== '');
  const balanced = user.rules.split('(').length === user.rules.split(')').length;
  return [user.current === undefined ? 'off' : 'on', ...hashesOf(user), ...joinSelectors(balanced ? rules : ['!'])];
};

/** A selector `(… …)` is one word of the command. */
const joinSelectors = (words: readonly string[]): string[] => {
  const joined: string[] = [];
  for (const word of words) {
    const last = joined.at(-1);
    if (last !== undefined && last.startsWith('(') && !last.endsWith(')'))
      joined[joined.length - 1] = `${last} ${word}`;
    else joined.push(word);
  }
  return joined;
};

const readLines = (reply: Reply | undefined): ReadonlyMap<string, AclLine> | undefined =>
  reply?.ok === true ? parseAclList(reply.value) : undefined;

/** A user whose new rules are refused keeps its old ones, but its passwords follow, or a rotation could never end. */
const setPasswordsOnly = async (
  send: Send,
  chosen: readonly (readonly [string, ExpectedUser])[],
  failed: readonly string[],
  lines: ReadonlyMap<string, AclLine>,
): Promise<ReadonlyMap<string, AclLine>> => {
  const commands = chosen
    .filter(([name]) => failed.includes(name) && lines.has(name))
    .map(([name, user]): RedisCommand => ['ACL', 'SETUSER', name, 'resetpass', ...hashesOf(user)]);
  const replies = await send([...commands, ['ACL', 'LIST']]);
  return readLines(replies.at(-1)) ?? lines;
};

const bookEntry = (
  [name, { rules }]: readonly [string, ExpectedUser],
  failed: readonly string[],
  lines: ReadonlyMap<string, AclLine>,
): readonly [string, string] => [
  name,
  failed.includes(name) ? refusalMark(rules) : digestRules(rules, lines.get(name)?.rules ?? ''),
];
