/**
 * The hub's configuration: from the environment alone, checked whole at start. An unknown ATOLL_ key is an error, since
 * a misspelt limit would else silently not hold. Secrets are never values here, only names of files; a DATABASE_URL
 * may hold one, and is redacted wherever the configuration is printed.
 */
import { parseQuantity } from '#domain';
import { isIP } from 'node:net';
import * as v from 'valibot';

import { DEFAULT_POOL_SIZES, type PoolSizes } from '../database/pool-sizes.ts';

const port = v.pipe(v.string(), v.regex(/^\d+$/, 'must be a number'), v.transform(Number), v.maxValue(65_535));
const count = v.pipe(v.string(), v.regex(/^\d+$/, 'must be a number'), v.transform(Number), v.minValue(1));
const days = v.pipe(
  v.string(),
  v.regex(/^\d+$/, 'must be a number'),
  v.transform(Number),
  v.minValue(30, 'must be 30 or more'),
  v.maxValue(36_500, 'must be 36500 or less'),
);
const bytes = v.pipe(
  v.string(),
  v.regex(/^\d+(\.\d+)?(Ki|Mi|Gi|Ti|k|M|G|T)?$/, 'must be a number of bytes, such as 20Gi'),
  v.transform((given) => parseQuantity(given) ?? 0),
  v.minValue(1),
);
const atLeast = (least: number) => v.pipe(count, v.minValue(least, `must be at least ${least}`));
const text = v.pipe(v.string(), v.trim(), v.nonEmpty());
const address = v.pipe(text, v.regex(/^(\[[0-9a-fA-F:]+\]|[^:\s/]+):\d+$/, 'must be host:port'));
const addresses = v.pipe(
  v.string(),
  v.transform((list) => list.split(',').map((part) => part.trim())),
  v.array(address),
);

const isNetwork = (part: string): boolean => {
  const [host = '', bits, more] = part.split('/');
  const most = { 0: -1, 4: 32, 6: 128 }[isIP(host)] ?? -1;
  return more === undefined && most > 0 && (bits === undefined || (/^\d+$/.test(bits) && Number(bits) <= most));
};
const networks = v.pipe(
  v.string(),
  v.transform((list) => list.split(',').map((part) => part.trim())),
  v.array(v.pipe(v.string(), v.check(isNetwork, 'must be addresses or networks such as 10.0.0.0/8'))),
);

const environmentSchema = v.strictObject({
  DATABASE_URL: v.optional(v.pipe(text, v.regex(/^postgres(ql)?:\/\//, 'must begin with postgres://'))),
  ATOLL_DATA_DIR: v.optional(text, './.atoll/hub'),
  ATOLL_ENVIRONMENT: v.optional(v.picklist(['production', 'development', 'demo']), 'production'),
  ATOLL_LISTEN_ADDRESS: v.optional(text, '0.0.0.0'),
  ATOLL_API_PORT: v.optional(port, '8443'),
  ATOLL_AGENT_PORT: v.optional(port, '8444'),
  ATOLL_METRICS_ADDRESS: v.optional(text, '127.0.0.1'),
  ATOLL_METRICS_PORT: v.optional(port, '8445'),
  ATOLL_AGENT_TLS: v.optional(v.picklist(['on', 'off']), 'on'),
  ATOLL_PUBLIC_API_ADDRESS: v.optional(address),
  ATOLL_PUBLIC_AGENT_ADDRESS: v.optional(addresses),
  ATOLL_TRUSTED_PROXIES: v.optional(networks),
  ATOLL_TLS_CERT_FILE: v.optional(text),
  ATOLL_TLS_KEY_FILE: v.optional(text),
  ATOLL_TLS_CA_FILE: v.optional(text),
  ATOLL_TLS_NEXT_CA_FILE: v.optional(text),
  ATOLL_OWN_CA: v.optional(v.picklist(['keep', 'announce-next', 'use-next'])),
  ATOLL_BOOTSTRAP_ADMIN_TOKEN_FILE: v.optional(text),
  ATOLL_REPLICA_NAME: v.optional(text),
  ATOLL_LOG_LEVEL: v.optional(v.picklist(['trace', 'debug', 'info', 'warn', 'error', 'silent']), 'info'),
  ATOLL_DELETE_LIMIT_PER_AGENT: v.optional(count, '3'),
  ATOLL_DELETE_LIMIT_PER_ACTOR: v.optional(count, '20'),
  ATOLL_DELETE_LIMIT_FLEET: v.optional(count, '20'),
  ATOLL_AUDIT_KEEP_DAYS: v.optional(days, '400'),
  ATOLL_DATABASE_BUDGET: v.optional(bytes),
  ATOLL_DATABASE_LINK_CONNECTIONS: v.optional(atLeast(4), String(DEFAULT_POOL_SIZES.link)),
  ATOLL_DATABASE_API_CONNECTIONS: v.optional(atLeast(2), String(DEFAULT_POOL_SIZES.api)),
  ATOLL_DATABASE_ACCESS_CONNECTIONS: v.optional(atLeast(3), String(DEFAULT_POOL_SIZES.access)),
});

export interface TlsFiles {
  readonly certFile: string;
  readonly keyFile: string;
  readonly caFile: string;
}

/** A dialect of the protocol library, by what is said of it here: configuration knows no protocol. */
export interface SpokenVersion {
  readonly version: number;
}

export interface HubConfig {
  readonly databaseUrl?: string;
  readonly dataDir: string;
  readonly environment: 'production' | 'development' | 'demo';
  readonly listenAddress: string;
  readonly apiPort: number;
  readonly agentPort: number;
  /** Metrics ask for no token, so by default only this machine gets them. */
  readonly metrics: { readonly address: string; readonly port: number };
  /** False: a balancer in front ends the agents' TLS, and it alone may reach the listener. */
  readonly agentTls: boolean;
  /** host:port; default from the listen address and port. */
  readonly publicApiAddress?: string;
  /** host:port that agents dial and sign; the first is the default. Empty: from the listen address and port. */
  readonly publicAgentAddresses: readonly string[];
  /** Whose X-Forwarded-For is believed. Default: nobody's. */
  readonly trustedProxies?: readonly string[];
  readonly tlsFiles?: TlsFiles;
  /** With `tlsFiles`: PEM of the CA that agents are told of before the hub uses it. */
  readonly nextCaFile?: string;
  /** Without `tlsFiles`: what becomes of the hub's own CA. Default `keep`. */
  readonly ownCa?: 'keep' | 'announce-next' | 'use-next';
  readonly adminTokenFile?: string;
  readonly replicaName?: string;
  readonly logLevel: 'trace' | 'debug' | 'info' | 'warn' | 'error' | 'silent';
  /** Protocols that agents may choose from, newest first. Default: those of this release; a test of skew names others. */
  readonly dialects?: readonly SpokenVersion[];
  /** Default 400. */
  readonly auditKeepDays?: number;
  /** What the database may take of its disk; from 70 % of it on the hub raises an alarm. */
  readonly databaseBudgetBytes?: number;
  readonly deleteLimits: { readonly perAgent: number; readonly perActor: number; readonly fleet: number };
  /** Connections to the database. Default: DEFAULT_POOL_SIZES. */
  readonly databasePools?: PoolSizes;
}

/** Thrown with one line per wrong key. */
export class ConfigError extends Error {}

/** Reads the ATOLL_ keys and DATABASE_URL of an environment. Throws ConfigError. */
export function parseHubConfig(environment: Readonly<Record<string, string | undefined>>): HubConfig {
  const ours = Object.entries(environment).filter(
    ([key, value]) => (key.startsWith('ATOLL_') || key === 'DATABASE_URL') && value !== undefined && value !== '',
  );
  const parsed = v.safeParse(environmentSchema, Object.fromEntries(ours));
  if (!parsed.success) {
    const lines = parsed.issues.map((issue) => {
      const key = String(issue.path?.[0]?.key ?? '?');
      return issue.expected === 'never' ? `${key}: unknown key` : `${key}: ${issue.message}`;
    });
    throw new ConfigError(`wrong configuration:\n  ${lines.join('\n  ')}`);
  }
  return toConfig(parsed.output);
}

function toConfig(env: v.InferOutput<typeof environmentSchema>): HubConfig {
  const tlsFiles = toTlsFiles(env);
  return {
    dataDir: env.ATOLL_DATA_DIR,
    environment: env.ATOLL_ENVIRONMENT,
    listenAddress: env.ATOLL_LISTEN_ADDRESS,
    apiPort: env.ATOLL_API_PORT,
    agentPort: env.ATOLL_AGENT_PORT,
    metrics: { address: env.ATOLL_METRICS_ADDRESS, port: env.ATOLL_METRICS_PORT },
    agentTls: env.ATOLL_AGENT_TLS === 'on',
    publicAgentAddresses: env.ATOLL_PUBLIC_AGENT_ADDRESS ?? [],
    logLevel: env.ATOLL_LOG_LEVEL,
    auditKeepDays: env.ATOLL_AUDIT_KEEP_DAYS,
    deleteLimits: {
      perAgent: env.ATOLL_DELETE_LIMIT_PER_AGENT,
      perActor: env.ATOLL_DELETE_LIMIT_PER_ACTOR,
      fleet: env.ATOLL_DELETE_LIMIT_FLEET,
    },
    databasePools: {
      link: env.ATOLL_DATABASE_LINK_CONNECTIONS,
      api: env.ATOLL_DATABASE_API_CONNECTIONS,
      access: env.ATOLL_DATABASE_ACCESS_CONNECTIONS,
    },
    ...toDatabase(env),
    ...(env.ATOLL_PUBLIC_API_ADDRESS && { publicApiAddress: env.ATOLL_PUBLIC_API_ADDRESS }),
    ...(env.ATOLL_TRUSTED_PROXIES && { trustedProxies: env.ATOLL_TRUSTED_PROXIES }),
    ...(tlsFiles && { tlsFiles }),
    ...(env.ATOLL_TLS_NEXT_CA_FILE && { nextCaFile: env.ATOLL_TLS_NEXT_CA_FILE }),
    ...(env.ATOLL_OWN_CA && { ownCa: env.ATOLL_OWN_CA }),
    ...(env.ATOLL_BOOTSTRAP_ADMIN_TOKEN_FILE && { adminTokenFile: env.ATOLL_BOOTSTRAP_ADMIN_TOKEN_FILE }),
    ...(env.ATOLL_REPLICA_NAME && { replicaName: env.ATOLL_REPLICA_NAME }),
  };
}

const toDatabase = (env: v.InferOutput<typeof environmentSchema>): Partial<HubConfig> => ({
  ...(env.DATABASE_URL && { databaseUrl: env.DATABASE_URL }),
  ...(env.ATOLL_DATABASE_BUDGET && { databaseBudgetBytes: env.ATOLL_DATABASE_BUDGET }),
});

function toTlsFiles(env: v.InferOutput<typeof environmentSchema>): TlsFiles | undefined {
  const { ATOLL_TLS_CERT_FILE: certFile, ATOLL_TLS_KEY_FILE: keyFile, ATOLL_TLS_CA_FILE: caFile } = env;
  if (!certFile && !keyFile && !caFile) {
    if (!env.ATOLL_TLS_NEXT_CA_FILE) return undefined;
    throw new ConfigError(
      'wrong configuration:\n  ATOLL_TLS_NEXT_CA_FILE goes with ATOLL_TLS_CERT_FILE; the hub that makes its own CA takes ATOLL_OWN_CA=announce-next',
    );
  }
  if (env.ATOLL_OWN_CA) {
    throw new ConfigError(
      'wrong configuration:\n  ATOLL_OWN_CA is for a hub without ATOLL_TLS_CERT_FILE; announce a given CA by ATOLL_TLS_NEXT_CA_FILE',
    );
  }
  if (certFile && keyFile && caFile) return { certFile, keyFile, caFile };
  throw new ConfigError('wrong configuration:\n  ATOLL_TLS_CERT_FILE, _KEY_FILE and _CA_FILE go together');
}

/** The configuration as it may be logged. */
export function redactHubConfig(config: HubConfig): HubConfig {
  if (!config.databaseUrl) return config;
  const databaseUrl = config.databaseUrl
    .replace(/\/\/([^:@/]*):[^@/]*@/, '//$1:***@')
    .replace(/password=[^&]*/, 'password=***');
  return { ...config, databaseUrl };
}
