/**
 * The agent's configuration: from the environment alone, checked whole at start. An unknown ATOLL_ key is an error, since
 * a misspelt limit would else silently not hold. Secrets are never values here, only names of files.
 */
import { ENGINE_REPOSITORIES } from '#domain';
import type { Scope } from '#domain';
import * as v from 'valibot';
import { suggestKey } from './suggest-key.ts';

const text = v.pipe(v.string(), v.trim(), v.nonEmpty());
const port = v.pipe(v.string(), v.regex(/^\d+$/, 'must be a number'), v.transform(Number), v.maxValue(65_535));
const count = v.pipe(v.string(), v.regex(/^\d+$/, 'must be a whole number'), v.transform(Number), v.maxValue(100_000));
const flag = v.pipe(
  v.picklist(['true', 'false'], 'must be true or false'),
  v.transform((value) => value === 'true'),
);
const address = v.pipe(text, v.regex(/^(\[[0-9a-fA-F:]+\]|[^:\s/]+):\d+$/, 'must be host:port'));
const list = v.pipe(
  v.string(),
  v.transform((value) => value.split(',').map((part) => part.trim())),
  v.transform((parts) => parts.filter((part) => part !== '')),
);
const namespace = v.pipe(text, v.regex(/^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/, 'must be a namespace name'));

const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'silent'] as const;
export type LogLevelName = (typeof LOG_LEVELS)[number];

const environmentSchema = v.strictObject({
  ATOLL_HUB_ADDRESS: v.optional(address),
  ATOLL_HUB_CA_FILE: v.optional(text),
  ATOLL_ENROLMENT_TOKEN_FILE: v.optional(text),
  ATOLL_SCOPE: v.optional(v.picklist(['CLUSTER', 'NAMESPACE'], 'must be CLUSTER or NAMESPACE'), 'CLUSTER'),
  ATOLL_NAMESPACE: v.optional(namespace),
  ATOLL_POD_NAME: v.optional(text),
  KUBECONFIG: v.optional(text),
  ATOLL_KUBE_CONTEXT: v.optional(text),
  ATOLL_HEALTH_PORT: v.optional(port, '8080'),
  ATOLL_LOG_LEVEL: v.optional(v.picklist(LOG_LEVELS, `must be one of ${LOG_LEVELS.join(', ')}`), 'info'),
  ATOLL_MANAGE_CRDS: v.optional(flag),
  ATOLL_ALLOWED_NAMESPACES: v.optional(list, ''),
  ATOLL_PROTECTED_NAMESPACES: v.optional(list, ''),
  ATOLL_ALLOWED_IMAGE_REGISTRIES: v.optional(list, ENGINE_REPOSITORIES.join(',')),
  ATOLL_ALLOWED_PRIORITY_CLASSES: v.optional(list, ''),
  ATOLL_MAX_REDIS_CLUSTERS: v.optional(count, '5000'),
  ATOLL_ACCEPT_DELETES: v.optional(flag, 'true'),
  ATOLL_MAX_DELETES: v.optional(count, '3'),
  ATOLL_MAX_DESTRUCTIVE_CHANGES: v.optional(count, '3'),
  ATOLL_TEST_REDIS_PROXY: v.optional(address),
  ATOLL_TEST_GRACE_SECONDS: v.optional(count),
});
type Environment = v.InferOutput<typeof environmentSchema>;

/** What this agent allows the hub to do in its member cluster. */
export interface LimitsConfig {
  /** Empty: every namespace of the scope. */
  readonly namespaces: readonly string[];
  /** Besides kube-* and the agent's own; `name*` means every name that begins so. */
  readonly protectedNamespaces: readonly string[];
  /** Registries or repositories; `*`: any. */
  readonly imageRegistries: readonly string[];
  readonly priorityClasses: readonly string[];
  readonly maxRedisClusters: number;
  readonly acceptDeletes: boolean;
  /** Deletes within 5 minutes; more of them wait. */
  readonly maxDeletes: number;
  /** RedisClusters within 5 minutes; changes of more of them wait for a person. */
  readonly maxDestructiveChanges: number;
}

export interface AgentConfig {
  /** Absent: operator only, no hub. */
  readonly hub?: { readonly address: string; readonly caFile?: string; readonly enrolmentTokenFile?: string };
  readonly scopeKind: Scope['kind'];
  /** Own namespace, when given; else that of the connection. */
  readonly namespace?: string;
  readonly podName?: string;
  /** Absent: in-cluster service account. */
  readonly kubeconfigPath?: string;
  readonly kubeContext?: string;
  readonly healthPort: number;
  readonly logLevel: LogLevelName;
  /** Default: true for scope CLUSTER, false for NAMESPACE. */
  readonly manageCrds: boolean;
  readonly limits: LimitsConfig;
  /** For tests: `host:port` of the recording proxy that every connection to Redis and Sentinel goes through. */
  readonly testRedisProxy?: { readonly host: string; readonly port: number };
  /** For tests of Atoll itself: in place of the 3 minutes and more that old passwords stay valid. */
  readonly gracePeriodMs?: number;
}

/** Thrown with one line per wrong key. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
}

/** Reads KUBECONFIG and the ATOLL_ keys of an environment; an empty value counts as absent. Throws ConfigError. */
export function parseAgentConfig(environment: Readonly<Record<string, string | undefined>>): AgentConfig {
  const ours = Object.entries(environment).filter(
    ([key, value]) => (key.startsWith('ATOLL_') || key === 'KUBECONFIG') && value !== undefined && value !== '',
  );
  const parsed = v.safeParse(environmentSchema, Object.fromEntries(ours));
  if (!parsed.success) throw new ConfigError(describeIssues(parsed.issues));
  return toConfig(parsed.output);
}

function describeIssues(issues: readonly v.InferIssue<typeof environmentSchema>[]): string {
  const lines = issues.map((issue) => {
    const key = String(issue.path?.[0]?.key ?? '?');
    if (issue.expected !== 'never') return `${key}: ${issue.message}`;
    const hint = suggestKey(key, Object.keys(environmentSchema.entries));
    return `${key}: unknown key${hint === undefined ? '' : `; did you mean ${hint}?`}`;
  });
  return `wrong configuration:\n  ${lines.join('\n  ')}`;
}

function toConfig(env: Environment): AgentConfig {
  return {
    scopeKind: env.ATOLL_SCOPE,
    healthPort: env.ATOLL_HEALTH_PORT,
    logLevel: env.ATOLL_LOG_LEVEL,
    manageCrds: env.ATOLL_MANAGE_CRDS ?? env.ATOLL_SCOPE === 'CLUSTER',
    limits: {
      namespaces: env.ATOLL_ALLOWED_NAMESPACES,
      protectedNamespaces: env.ATOLL_PROTECTED_NAMESPACES,
      imageRegistries: env.ATOLL_ALLOWED_IMAGE_REGISTRIES,
      priorityClasses: env.ATOLL_ALLOWED_PRIORITY_CLASSES,
      maxRedisClusters: env.ATOLL_MAX_REDIS_CLUSTERS,
      acceptDeletes: env.ATOLL_ACCEPT_DELETES,
      maxDeletes: env.ATOLL_MAX_DELETES,
      maxDestructiveChanges: env.ATOLL_MAX_DESTRUCTIVE_CHANGES,
    },
    ...toHub(env),
    ...(env.ATOLL_TEST_GRACE_SECONDS !== undefined && { gracePeriodMs: env.ATOLL_TEST_GRACE_SECONDS * 1_000 }),
    ...(env.ATOLL_NAMESPACE && { namespace: env.ATOLL_NAMESPACE }),
    ...(env.ATOLL_POD_NAME && { podName: env.ATOLL_POD_NAME }),
    ...(env.KUBECONFIG && { kubeconfigPath: env.KUBECONFIG }),
    ...(env.ATOLL_KUBE_CONTEXT && { kubeContext: env.ATOLL_KUBE_CONTEXT }),
    ...(env.ATOLL_TEST_REDIS_PROXY && { testRedisProxy: parseAddress(env.ATOLL_TEST_REDIS_PROXY) }),
  };
}

function toHub(env: Environment): Pick<AgentConfig, 'hub'> {
  const { ATOLL_HUB_ADDRESS: hubAddress, ATOLL_HUB_CA_FILE: caFile, ATOLL_ENROLMENT_TOKEN_FILE: tokenFile } = env;
  if (!hubAddress) return {};
  return {
    hub: { address: hubAddress, ...(caFile && { caFile }), ...(tokenFile && { enrolmentTokenFile: tokenFile }) },
  };
}

function parseAddress(text: string): { host: string; port: number } {
  const colon = text.lastIndexOf(':');
  return { host: text.slice(0, colon).replace(/^\[|\]$/g, ''), port: Number(text.slice(colon + 1)) };
}
