import { describe, expect, it } from 'vitest';
import { parseAgentConfig } from './agent-config.ts';
import { suggestKey } from './suggest-key.ts';

describe('the configuration of the agent', () => {
  it('has a default for every key, and needs no hub', () => {
    expect(parseAgentConfig({ PATH: '/bin', ATOLL_HUB_ADDRESS: '' })).toEqual({
      scopeKind: 'CLUSTER',
      healthPort: 8080,
      logLevel: 'info',
      manageCrds: true,
      limits: {
        namespaces: [],
        protectedNamespaces: [],
        imageRegistries: ['docker.io/library/redis', 'docker.io/valkey/valkey'],
        priorityClasses: [],
        maxRedisClusters: 5_000,
        acceptDeletes: true,
        maxDeletes: 3,
        maxDestructiveChanges: 3,
      },
    });
  });

  it('takes every key of the contract', () => {
    const config = parseAgentConfig({
      ATOLL_HUB_ADDRESS: '198.18.1.1:8444',
      ATOLL_HUB_CA_FILE: '/hub/ca.crt',
      ATOLL_ENROLMENT_TOKEN_FILE: '/hub/token',
      ATOLL_SCOPE: 'NAMESPACE',
      ATOLL_NAMESPACE: 'team-a',
      ATOLL_POD_NAME: 'atoll-agent-0',
      KUBECONFIG: '/k',
      ATOLL_KUBE_CONTEXT: 'dev',
      ATOLL_HEALTH_PORT: '0',
      ATOLL_LOG_LEVEL: 'debug',
      ATOLL_ALLOWED_NAMESPACES: 'a, b,',
      ATOLL_ALLOWED_IMAGE_REGISTRIES: 'registry.example/x',
      ATOLL_ACCEPT_DELETES: 'false',
      ATOLL_MAX_DELETES: '0',
      ATOLL_MAX_DESTRUCTIVE_CHANGES: '1',
      ATOLL_MAX_REDIS_CLUSTERS: '9',
      ATOLL_PROTECTED_NAMESPACES: 'istio-*',
      ATOLL_ALLOWED_PRIORITY_CLASSES: 'gold',
      ATOLL_TEST_REDIS_PROXY: '[::1]:7000',
    });
    expect(config).toEqual({
      hub: { address: '198.18.1.1:8444', caFile: '/hub/ca.crt', enrolmentTokenFile: '/hub/token' },
      scopeKind: 'NAMESPACE',
      namespace: 'team-a',
      podName: 'atoll-agent-0',
      kubeconfigPath: '/k',
      kubeContext: 'dev',
      healthPort: 0,
      logLevel: 'debug',
      manageCrds: false,
      testRedisProxy: { host: '::1', port: 7000 },
      limits: {
        namespaces: ['a', 'b'],
        protectedNamespaces: ['istio-*'],
        imageRegistries: ['registry.example/x'],
        priorityClasses: ['gold'],
        maxRedisClusters: 9,
        acceptDeletes: false,
        maxDeletes: 0,
        maxDestructiveChanges: 1,
      },
    });
  });

  it.each([
    [{ ATOLL_MAX_DELETE: '1' }, 'ATOLL_MAX_DELETE: unknown key; did you mean ATOLL_MAX_DELETES?'],
    [{ ATOLL_COMPLETELY_DIFFERENT: '1' }, 'ATOLL_COMPLETELY_DIFFERENT: unknown key'],
    [{ ATOLL_SCOPE: 'cluster' }, 'ATOLL_SCOPE: must be CLUSTER or NAMESPACE'],
    [{ ATOLL_ACCEPT_DELETES: 'yes' }, 'ATOLL_ACCEPT_DELETES: must be true or false'],
    [{ ATOLL_MAX_DELETES: '-1' }, 'ATOLL_MAX_DELETES: must be a whole number'],
    [{ ATOLL_HUB_ADDRESS: 'https://hub' }, 'ATOLL_HUB_ADDRESS: must be host:port'],
    [{ ATOLL_NAMESPACE: 'Team A' }, 'ATOLL_NAMESPACE: must be a namespace name'],
  ])('refuses %j and says what is wrong', (environment, message) => {
    expect(() => parseAgentConfig(environment)).toThrow(message);
  });

  it('names every wrong key at once', () => {
    const wrong = { ATOLL_HEALTH_PORT: 'x', ATOLL_LOG_LEVEL: 'loud' };
    expect(() => parseAgentConfig(wrong)).toThrow(/ATOLL_HEALTH_PORT[^]*ATOLL_LOG_LEVEL/);
  });

  it('suggests no key that is far off', () => {
    expect(suggestKey('ATOLL_X', ['ATOLL_NAMESPACE'])).toBeUndefined();
    expect(suggestKey('ATOLL_NAMESPCE', ['ATOLL_SCOPE', 'ATOLL_NAMESPACE'])).toBe('ATOLL_NAMESPACE');
  });
});
