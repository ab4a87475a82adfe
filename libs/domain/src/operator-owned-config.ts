/**
 * The redis.conf directives that a user may not set, each with what to use instead. They carry addresses, identity,
 * credentials, file places or the promises of replication; one of them set by hand can cut the operator off, open the
 * server, or let two primaries write. One table for the CRD's CEL rule, the hub's userErrors and SpecRejected.
 * Source: table of ownership in docs, measured on 7.0 to 9.1.
 */
import { ownValue } from './own-value.ts';

const ADDRESS = 'addresses and ports belong to the operator';
const FILES = 'file places belong to the operator';
const CREDENTIALS = 'users and passwords are made by the operator; read them from the connection Secret';
const PROCESS = 'the process is run by Kubernetes';
const REPLICATION = 'replication and failover belong to the operator; use spec.mode and spec.size';
const PERSISTENCE = 'use spec.persistence.enabled';
const DANGER = 'it would let a client change the server from inside';
const TLS = 'TLS is not offered yet';

export const OPERATOR_OWNED_CONFIG: Readonly<Record<string, string>> = {
  port: ADDRESS,
  bind: ADDRESS,
  'bind-source-addr': ADDRESS,
  unixsocket: ADDRESS,
  unixsocketperm: ADDRESS,
  unixsocketgroup: ADDRESS,
  'protected-mode': ADDRESS,
  dir: FILES,
  dbfilename: FILES,
  appendfilename: FILES,
  appenddirname: FILES,
  logfile: FILES,
  pidfile: FILES,
  backupdirname: FILES,
  'preload-file': FILES,
  include: FILES,
  loadmodule: DANGER,
  'rename-command': DANGER,
  'enable-debug-command': DANGER,
  'enable-module-command': DANGER,
  'enable-protected-configs': DANGER,
  'propagation-error-behavior': DANGER,
  aclfile: CREDENTIALS,
  user: CREDENTIALS,
  requirepass: CREDENTIALS,
  masterauth: CREDENTIALS,
  masteruser: CREDENTIALS,
  primaryauth: CREDENTIALS,
  primaryuser: CREDENTIALS,
  daemonize: PROCESS,
  supervised: PROCESS,
  'proc-title-template': PROCESS,
  'locale-collate': PROCESS,
  'shutdown-on-sigterm': PROCESS,
  'shutdown-on-sigint': PROCESS,
  replicaof: REPLICATION,
  slaveof: REPLICATION,
  'replica-priority': REPLICATION,
  'slave-priority': REPLICATION,
  'replica-read-only': REPLICATION,
  'slave-read-only': REPLICATION,
  'replica-announced': REPLICATION,
  'min-replicas-to-write': REPLICATION,
  'min-replicas-max-lag': REPLICATION,
  'min-slaves-to-write': REPLICATION,
  'min-slaves-max-lag': REPLICATION,
  appendonly: PERSISTENCE,
  'aof-use-rdb-preamble': PERSISTENCE,
};

const OWNED_PREFIXES: readonly (readonly [prefix: string, advice: string])[] = [
  ['cluster-', 'Cluster mode is not offered yet'],
  ['tls-', TLS],
  ['replica-announce-', ADDRESS],
  ['slave-announce-', ADDRESS],
  ['syslog-', PROCESS],
  ['oom-score-adj', PROCESS],
];
const OWNED_SUFFIXES: readonly (readonly [suffix: string, advice: string])[] = [
  ['-cpulist', PROCESS],
  ['_cpulist', PROCESS],
];

/** Prefixes and suffixes of owned directives, for the CEL rule. */
export const OPERATOR_OWNED_PREFIXES: readonly string[] = OWNED_PREFIXES.map(([prefix]) => prefix);
export const OPERATOR_OWNED_SUFFIXES: readonly string[] = OWNED_SUFFIXES.map(([suffix]) => suffix);

/** Why a user may not set this directive, as half a sentence; undefined when he may. Names ignore case, as Redis does. */
export const explainOwnedConfig = (directive: string): string | undefined => {
  const name = directive.toLowerCase();
  const owned = ownValue(OPERATOR_OWNED_CONFIG, name);
  if (owned !== undefined) return owned;
  return (
    OWNED_PREFIXES.find(([prefix]) => name.startsWith(prefix))?.[1] ??
    OWNED_SUFFIXES.find(([suffix]) => name.endsWith(suffix))?.[1]
  );
};
