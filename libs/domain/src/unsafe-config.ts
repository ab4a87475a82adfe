/**
 * Values that redis-server takes at once and that then hurt: they cut replicas or the agent off, or turn protection off
 * without saying so. Decided from name and value alone. The hub refuses them as input; the operator, for what already
 * lies in a member cluster, leaves such a directive out and tells it as rejected, and all the others are applied.
 * Source: redis-engine section 2, "Dangerous though accepted at run time", measured on 7.0.15.
 */
import { ownValue } from './own-value.ts';
import { isTooSmallToRun } from './derive-maxmemory.ts';
import { parseRedisMemory } from './parse-quantity.ts';

const OF_TEST_BUILDS = new Set([
  'use-exit-on-panic',
  'loading-process-events-interval-bytes',
  'rdb-key-save-delay',
  'key-load-delay',
  'watchdog-period',
]);

/** They let redis-server load a library or read a file of the caller's choice, or do not belong into redis.conf. */
const FOR_WHO_RUNS_THE_SERVER: Readonly<Record<string, string>> = {
  sentinel: 'it belongs to the configuration of a Sentinel, and stops the start of a server',
  'search-ext-load': 'it would load a library into the server',
  'search-friso-ini': 'it would let the server read a file of the pod',
  'debug-context': 'it is for tests of the engine itself',
  'crash-memcheck-enabled': 'what the server does when it crashes belongs to the operator',
  'crash-log-enabled': 'what the server does when it crashes belongs to the operator',
  'ignore-warnings': 'the server would start although its own check says that data can be damaged',
  'import-mode': 'keys would neither expire nor be evicted',
};

const MIN_TIMEOUT_S = 30;
const MIN_REPL_TIMEOUT_S = 15;
const MIN_BACKLOG_BYTES = 16_384;
const MIN_REPLICA_BUFFER_BYTES = 1_048_576;
const MIN_CLIENTS = 32;
const MAX_DATABASES = 16_384;
const MAX_HZ = 500;

const wholeNumber = (value: string): number | undefined => (/^-?\d+$/.test(value) ? Number(value) : undefined);

const outside = (value: string, min: number, max: number): boolean => {
  const number = wholeNumber(value);
  return number !== undefined && (number < min || number > max);
};

type Judge = (value: string) => string | undefined;

const judgeBufferLimit: Judge = (value) => {
  const words = value.trim().toLowerCase().split(/\s+/);
  const start = words.findIndex((word) => word === 'replica' || word === 'slave');
  const hard = start < 0 ? undefined : parseRedisMemory(words[start + 1] ?? '');
  if (hard === undefined || hard === 0 || hard >= MIN_REPLICA_BUFFER_BYTES) return undefined;
  return 'a hard limit for replicas below 1mb cuts every replica off during its first copy';
};

const judgeSave: Judge = (value) => {
  const numbers = value.trim().split(/\s+/).map(Number);
  const zero = value.trim() !== '' && numbers.some((number) => number < 1);
  return zero ? 'each pair is seconds and changes, both at least 1' : undefined;
};

const between =
  (min: number, max: number, because: string): Judge =>
  (value) =>
    outside(value, min, max) ? because : undefined;

const refused =
  (word: string, because: string): Judge =>
  (value) =>
    value.toLowerCase() === word ? because : undefined;

const JUDGES: Readonly<Record<string, Judge>> = {
  hz: between(1, MAX_HZ, `it is a number from 1 to ${MAX_HZ}; the server would silently take another one`),
  timeout: (value) =>
    value !== '0' && outside(value, MIN_TIMEOUT_S, Infinity)
      ? 'connections that are idle for less than 30 s would be closed, those of the operator too; use 0 or at least 30'
      : undefined,
  'repl-timeout': between(MIN_REPL_TIMEOUT_S, Infinity, 'below 15 s a busy replica counts as dead'),
  'repl-backlog-size': (value) =>
    (parseRedisMemory(value) ?? Infinity) < MIN_BACKLOG_BYTES
      ? 'it is at least 16kb; the server would silently take that'
      : undefined,
  save: judgeSave,
  databases: between(1, MAX_DATABASES, `it is a number from 1 to ${MAX_DATABASES}`),
  maxclients: between(MIN_CLIENTS, Infinity, 'below 32 the replicas, Sentinels and the operator find no room'),
  'socket-mark-id': (value) => (value === '0' ? undefined : 'it needs a privilege that the pods do not have'),
  'client-output-buffer-limit': judgeBufferLimit,
  'hide-user-data-from-log': refused('no', "keys and values would get into the pods' logs, which others may read"),
  'rdb-version-check': refused('relaxed', 'the server would load a file of an engine that it does not know'),
  'repl-diskless-load': refused(
    'flush-before-load',
    'a replica would empty itself before it has a copy, which may then be the last one',
  ),
  maxmemory: (value) =>
    isTooSmallToRun(parseRedisMemory(value) ?? 0)
      ? 'it is less than Redis needs when empty, so every key would be evicted or every write refused; use at least 4mb'
      : undefined,
};

/** Why this value may not be applied, as half a sentence; undefined when nothing speaks against it. */
export const explainUnsafeConfig = (name: string, value: string): string | undefined => {
  if (OF_TEST_BUILDS.has(name)) return 'it is for tests of the engine itself';
  const forOthers = ownValue(FOR_WHO_RUNS_THE_SERVER, name);
  if (forOthers !== undefined) return forOthers;
  if (name.startsWith('rdma-')) return 'addresses and ports belong to the operator';
  return ownValue(JUDGES, name)?.(value.trim());
};
