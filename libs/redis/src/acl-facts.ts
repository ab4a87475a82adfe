/**
 * What a server says of its users, judged against what they should be, without anything leaving that a password could be
 * found from: only yes and no. Pure. Passwords are compared by the SHA-256 that ACL LIST shows.
 *
 * Rules come back in the server's own spelling, so they are compared with what the server made of them when they were
 * set: the user BOOK_USER, which is off and may do nothing, holds a digest per user as key patterns. It is in no ACL file,
 * so a new process has no book and is asserted anew, and a change by hand no longer matches. A server of the agent's is
 * thereby its own memory: an agent that starts plans nothing for a server that is as it should be.
 */
import { ownValue, setOwnValue } from '#domain';
import { createHash } from 'node:crypto';
import type { AclUserSeen } from '#domain';

/** Passwords as SHA-256 in hex. */
export interface ExpectedUser {
  readonly rules: string;
  /** Absent: the user is off and has no password. */
  readonly current?: string;
  readonly next?: string;
  readonly previous?: string;
}

export interface AclExpectation {
  readonly users: Readonly<Record<string, ExpectedUser>>;
  /** Users that were ours and are to go. */
  readonly goners: readonly string[];
  /** SHA-256 of the password that this server logs in with at its peers: masterauth, or sentinel-pass. */
  readonly peerLogin?: string;
}

export const BOOK_USER = 'atoll.book';

export interface AclLine {
  readonly hashes: ReadonlySet<string>;
  readonly on: boolean;
  /** All but name and passwords, as the server spells it. */
  readonly rules: string;
}

export const hashPassword = (password: string): string => createHash('sha256').update(password, 'utf8').digest('hex');

/** Lines of ACL LIST by user; what is no such line is left out. */
export const parseAclList = (reply: unknown): ReadonlyMap<string, AclLine> => {
  const lines = new Map<string, AclLine>();
  for (const line of Array.isArray(reply) ? reply : []) {
    const [word, name, ...rest] = typeof line === 'string' ? line.split(' ') : [];
    if (word !== 'user' || name === undefined) continue;
    const hashes = rest.filter((part) => part.startsWith('#')).map((part) => part.slice(1));
    const rules = rest.filter((part) => !part.startsWith('#') && part !== 'sanitize-payload').join(' ');
    lines.set(name, { hashes: new Set(hashes), on: rest.includes('on'), rules });
  }
  return lines;
};

export type Book = Readonly<Record<string, string>>;

/** Digest per user that this server was set with; `!…` where it refused the rules. */
export const readBook = (lines: ReadonlyMap<string, AclLine>): Book => {
  const patterns = (lines.get(BOOK_USER)?.rules ?? '').split(' ').filter((part) => part.startsWith('~'));
  return Object.fromEntries(
    patterns.map((pattern) => {
      const at = pattern.lastIndexOf('=');
      return [pattern.slice(1, at), pattern.slice(at + 1)];
    }),
  );
};

export const digestRules = (wanted: string, live: string): string =>
  createHash('sha256').update(`${wanted}\n${live}`).digest('hex').slice(0, 16);

/** What the book holds for rules that the server refused. */
export const refusalMark = (wanted: string): string => `!${digestRules(wanted, '')}`;

/** Each expected user that is there, and each goner that still is. */
export const judgeUsers = (
  lines: ReadonlyMap<string, AclLine>,
  { users, goners }: AclExpectation,
): Readonly<Record<string, AclUserSeen>> => {
  const book = readBook(lines);
  const seen: Record<string, AclUserSeen> = {};
  for (const [name, expected] of Object.entries(users))
    setOwnValue(seen, name, judgeUser(lines.get(name), expected, ownValue(book, name)));
  for (const name of goners) if (lines.has(name)) setOwnValue(seen, name, GONER);
  return seen;
};

const GONER: AclUserSeen = {
  acceptsCurrent: false,
  acceptsPrevious: false,
  acceptsOthers: true,
  rulesAsWanted: false,
};

const judgeUser = (line: AclLine | undefined, expected: ExpectedUser, booked: string | undefined): AclUserSeen => {
  const { current, next, previous, rules } = expected;
  const has = (hash: string | undefined): boolean => hash !== undefined && line?.hashes.has(hash) === true;
  const known = new Set([current, next, previous]);
  const refused = booked === refusalMark(rules);
  return {
    acceptsCurrent: has(current),
    acceptsNext: has(next),
    acceptsPrevious: has(previous),
    acceptsOthers: [...(line?.hashes ?? [])].some((hash) => !known.has(hash)),
    rulesAsWanted: line !== undefined && (refused || booked === digestRules(rules, line.rules)),
    ...(refused ? { refused } : {}),
  };
};

type Connections = Required<Pick<AclUserSeen, 'connections' | 'oldestConnectionSeconds' | 'oldest'>>;
const MAX_TOLD = 5;

/** Of each user: how many clients are connected as it, and the oldest of them. From the text of CLIENT LIST. */
export const readConnections = (reply: unknown): Readonly<Record<string, Connections>> => {
  const found = new Map<string, { readonly address: string; readonly ageSeconds: number }[]>();
  for (const line of typeof reply === 'string' ? reply.split('\n') : []) {
    const user = / user=(\S+)/.exec(line)?.[1];
    const ageSeconds = Number(/ age=(\d+)/.exec(line)?.[1]);
    if (user === undefined || Number.isNaN(ageSeconds)) continue;
    const address = / addr=(\S+):\d+/.exec(line)?.[1] ?? 'unknown';
    const clients = found.get(user) ?? [];
    clients.push({ address, ageSeconds });
    found.set(user, clients);
  }
  return Object.fromEntries([...found].map(([user, clients]) => [user, summarise(clients)]));
};

const summarise = (clients: Connections['oldest']): Connections => {
  const oldest = [...clients].sort((a, b) => b.ageSeconds - a.ageSeconds).slice(0, MAX_TOLD);
  return { connections: clients.length, oldestConnectionSeconds: oldest[0]?.ageSeconds ?? 0, oldest };
};
