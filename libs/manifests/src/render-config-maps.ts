import type { KubeObject, ResolvedSpec } from '#domain';
import { SENTINEL_RULES, extraUserRules } from './acl-rules.ts';
import { childAnnotations, childLabels } from './labels.ts';
import type { RenderContext } from './render-child.ts';
import { renderRedisConfig } from './render-redis-config.ts';
import { CONFIG_SCRIPT } from './scripts/config-script.ts';
import { CREDENTIALS_SCRIPT } from './scripts/credentials-script.ts';
import { DATA_SCRIPT } from './scripts/data-script.ts';
import { PROBE_REDIS_SCRIPT } from './scripts/probe-redis-script.ts';
import { START_REDIS_SCRIPT } from './scripts/start-redis-script.ts';
import { START_SENTINEL_SCRIPT } from './scripts/start-sentinel-script.ts';
import { STOP_REDIS_SCRIPT } from './scripts/stop-redis-script.ts';

/** What Sentinel takes for a failover once it is sure, with room: measured 1.5 to 2.5 s. */
const PATIENCE_AFTER_DOWN_S = 10;

/** The entrypoints and probes, the same for every data set of one render version. */
export const renderScripts = ({ owner, names }: RenderContext): KubeObject => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: {
    name: names.scripts,
    namespace: owner.namespace,
    labels: childLabels(owner, 'all'),
    annotations: childAnnotations(owner),
  },
  data: {
    'config.sh': CONFIG_SCRIPT,
    'credentials.sh': CREDENTIALS_SCRIPT,
    'data.sh': DATA_SCRIPT,
    'probe-redis.sh': PROBE_REDIS_SCRIPT,
    'start-redis.sh': START_REDIS_SCRIPT,
    'start-sentinel.sh': START_SENTINEL_SCRIPT,
    'stop-redis.sh': STOP_REDIS_SCRIPT,
  },
});

/**
 * What the entrypoints read at each start. It is a volume, not environment, so that it can change without changing the
 * pod template, which would mean a restart; the entrypoint of a later pod sees the newer content.
 */
export const renderConfig = ({
  owner,
  names,
  spec,
  sentinelIds,
  recordedPrimary,
  returning = {},
}: RenderContext): KubeObject => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: {
    name: names.config,
    namespace: owner.namespace,
    labels: childLabels(owner, 'all'),
    annotations: childAnnotations(owner),
  },
  data: {
    'redis.conf': renderRedisConfig(spec),
    settings: [
      `MODE=${spec.mode}`,
      `PERSISTENCE=${spec.persistenceEnabled ? 'on' : 'off'}`,
      ...(spec.dropsAof === true ? ['AOF=drop'] : []),
      ...(spec.mode === 'Replication' && recordedPrimary !== undefined ? [`RECORDED_PRIMARY=${recordedPrimary}`] : []),
      ...renderReturning(returning),
      `REDIS_SET=${names.redis}`,
      `REDIS_PODS=${spec.size}`,
      `SENTINEL_SET=${names.sentinel}`,
      `SENTINEL_PODS=${spec.mode === 'Sentinel' ? spec.sentinel.replicas : 0}`,
      `PODS_SERVICE=${names.podsService}`,
      `MASTER_NAME=${names.masterName}`,
      `PATIENCE_S=${Math.ceil(spec.sentinel.downAfterMs / 1000) + PATIENCE_AFTER_DOWN_S}`,
      '',
    ].join('\n'),
    ...renderUsers(spec),
    'sentinel-ids': sentinelIds.map((id, ordinal) => `${ordinal} ${id}\n`).join(''),
  },
});

/** `RETURNING=2:1764640000 3:1764640000`: ordinals, and when each was noted. */
const renderReturning = (returning: Readonly<Record<string, number>>): readonly string[] => {
  const entries = Object.entries(returning).map(([ordinal, stamp]) => `${ordinal}:${stamp}`);
  return entries.length === 0 ? [] : [`RETURNING=${entries.join(' ')}`];
};

/** The users that the spec adds, a line each: name and rules. Their passwords are in the credentials Secret. */
const renderUsers = ({ auth: { users } }: ResolvedSpec): Record<string, string> =>
  users.length === 0
    ? {}
    : {
        users: users.map(({ name, rules }) => `${name} ${extraUserRules(rules)}\n`).join(''),
        'sentinel-users': users.map(({ name }) => `${name} ${SENTINEL_RULES.app}\n`).join(''),
      };
