/**
 * Whether the rules of a user of the spec may go into an ACL file. Decided from the words alone, as ACL SETUSER reads
 * them: in order, the last one wins. Refused are passwords (they belong into Secrets), words that would undo what the
 * operator set, and rights over the server itself: with CONFIG, ACL, REPLICAOF, FAILOVER or CLIENT PAUSE in a client's
 * hands no promise about data holds, and CONFIG GET reads the replication password.
 * Which categories hold such commands: ACL CAT of Redis 7.0.15, 8.6.3 and Valkey 9.1.2.
 */
import { findHelloRight } from './hello-channel.ts';
import { ownValue } from './own-value.ts';

const BROAD = new Set(['allcommands', '+@all', '+@admin', '+@dangerous', '+@slow', '+@connection']);
const TAKES_BACK = new Set(['nocommands', '-@all', '-@admin', '-@dangerous']);
const PLAIN = new Set([
  'on',
  'allkeys',
  'resetkeys',
  'allchannels',
  'resetchannels',
  'allcommands',
  'nocommands',
  'clearselectors',
  'sanitize-payload',
  'skip-sanitize-payload',
]);
const OF_THE_OPERATOR = new Set(['off', 'nopass', 'resetpass', 'reset']);
const CATEGORIES = new Set(
  (
    'all keyspace read write set sortedset list hash string bitmap hyperloglog geo stream pubsub admin fast slow blocking ' +
    'dangerous connection transaction scripting array search json timeseries bloom cuckoo cms topk tdigest'
  ).split(' '),
);
/** Commands that change the server, with the subcommands of them that do not. */
const FORBIDDEN: Readonly<Record<string, readonly string[]>> = {
  acl: ['whoami', 'cat', 'genpass', 'help'],
  bgrewriteaof: [],
  bgsave: [],
  client: [
    'caching',
    'getname',
    'getredir',
    'help',
    'id',
    'info',
    'list',
    'no-touch',
    'reply',
    'setinfo',
    'setname',
    'tracking',
    'trackinginfo',
  ],
  config: ['help', 'resetstat'],
  debug: [],
  failover: [],
  module: ['list', 'help'],
  monitor: [],
  psync: [],
  replconf: [],
  replicaof: [],
  save: [],
  shutdown: [],
  slaveof: [],
  sync: [],
};
const PATTERN_WORD = /^(?:~|%(?:R|W|RW|WR)~|&)[^\s]+$/i;
const COMMAND_WORD = /^[+-][a-z][a-z0-9._-]*(?:\|[a-z][a-z0-9._-]*)?$/i;
const CATEGORY_WORD = /^[+-]@([a-z]+)$/i;

/** What is wrong, as a sentence with what to write instead; undefined when the rules may be used. */
export const explainAclRules = (rules: string): string | undefined => {
  const lists = splitSelectors(rules);
  if (lists === undefined) return 'A selector is not closed, or stands in another: write (rules) with spaces around.';
  for (const words of lists) {
    const found =
      words.map(explainWord).find((problem) => problem !== undefined) ?? explainRights(words) ?? explainHello(words);
    if (found !== undefined) return found;
  }
  return undefined;
};

/** The words outside of parentheses, then those of each selector; undefined when a parenthesis stands alone. */
export const splitSelectors = (rules: string): readonly (readonly string[])[] | undefined => {
  const root = rules.replaceAll(ACL_SELECTOR, ' ');
  const selectors = [...rules.matchAll(ACL_SELECTOR)].map(([, inside = '']) => inside);
  if (/(?:^| )\(/.test(root)) return undefined;
  return [root, ...selectors].map((part) => part.split(' ').filter((word) => word !== ''));
};

/** `(+get ~a)` between spaces. */
export const ACL_SELECTOR = /(?<=^| )\(([^()]*)\)(?= |$)/g;

const explainWord = (word: string): string | undefined => {
  if (/^[><#!]/.test(word)) return 'Rules may carry no password; give secretRef, or leave it to the agent.';
  const lower = word.toLowerCase();
  if (OF_THE_OPERATOR.has(lower))
    return `${word} belongs to the operator, which makes the user and its password; remove it.`;
  const category = CATEGORY_WORD.exec(lower)?.[1];
  if (category !== undefined) return CATEGORIES.has(category) ? undefined : `There is no category @${category}.`;
  if (PLAIN.has(lower) || PATTERN_WORD.test(word) || COMMAND_WORD.test(word)) return undefined;
  return `${word} is no rule of ACL SETUSER; write for instance ~cache:* +@read +set.`;
};

/** Rights over the server that are left when the last word is read. */
const explainRights = (words: readonly string[]): string | undefined => {
  const lower = words.map((word) => word.toLowerCase());
  const left = lower.slice(lower.findLastIndex((word) => TAKES_BACK.has(word)) + 1);
  const broad = left.find((word) => BROAD.has(word));
  if (broad !== undefined) {
    return `${broad} grants commands that change the server (CONFIG, ACL, REPLICAOF, CLIENT PAUSE); write -@admin after it.`;
  }
  const single = left.find(
    (word, index) =>
      word.startsWith('+') && isForbidden(word.slice(1)) && !left.slice(index).includes(`-${word.slice(1)}`),
  );
  return single === undefined ? undefined : `${single} changes the server and belongs to the operator; remove it.`;
};

/** All channels are narrowed when the user is set; a pattern cannot be. */
const explainHello = (words: readonly string[]): string | undefined => {
  const right = findHelloRight(words);
  if (right.kind !== 'BY_PATTERN') return undefined;
  return `${right.pattern} with PUBLISH reaches the channel on which the Sentinels agree who is primary; name your channels, or write -publish.`;
};

const isForbidden = (command: string): boolean => {
  const [name = '', subcommand] = command.split('|');
  const harmless = ownValue(FORBIDDEN, name);
  return harmless !== undefined && (subcommand === undefined || !harmless.includes(subcommand));
};
