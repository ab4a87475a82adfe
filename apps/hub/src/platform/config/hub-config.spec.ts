import { describe, expect, it } from 'vitest';

import { parseHubConfig, redactHubConfig } from './hub-config.ts';

describe('the configuration of the hub', () => {
  it('has a default for every key', () => {
    const config = parseHubConfig({ PATH: '/bin' });
    expect(config).toMatchObject({
      environment: 'production',
      apiPort: 8443,
      agentPort: 8444,
      metrics: { address: '127.0.0.1', port: 8445 },
      publicAgentAddresses: [],
      databasePools: { link: 12, api: 7, access: 3 },
    });
    expect(config.databaseUrl).toBeUndefined();
  });

  it('takes several public agent addresses', () => {
    const config = parseHubConfig({ ATOLL_PUBLIC_AGENT_ADDRESS: '10.0.0.1:8444, hub.example:443' });
    expect(config.publicAgentAddresses).toEqual(['10.0.0.1:8444', 'hub.example:443']);
  });

  it('takes networks of trusted proxies', () => {
    const config = parseHubConfig({ ATOLL_TRUSTED_PROXIES: '10.0.0.0/8, fd00::/8,192.0.2.7' });
    expect(config.trustedProxies).toEqual(['10.0.0.0/8', 'fd00::/8', '192.0.2.7']);
  });

  it.each([
    [{ ATOLL_DELETE_LIMITS: '3' }, 'ATOLL_DELETE_LIMITS: unknown key'],
    [{ ATOLL_API_PORT: 'https' }, 'ATOLL_API_PORT: must be a number'],
    [{ ATOLL_PUBLIC_API_ADDRESS: 'https://hub' }, 'ATOLL_PUBLIC_API_ADDRESS: must be host:port'],
    [{ ATOLL_TLS_KEY_FILE: '/tls/key' }, 'go together'],
    [{ ATOLL_DATABASE_ACCESS_CONNECTIONS: '2' }, 'ATOLL_DATABASE_ACCESS_CONNECTIONS: must be at least 3'],
    [{ ATOLL_TRUSTED_PROXIES: '10.0.0.0/8, proxy' }, 'must be addresses or networks'],
    [{ ATOLL_TRUSTED_PROXIES: '10.0.0.0/33' }, 'must be addresses or networks'],
    [{ DATABASE_URL: 'mysql://x' }, 'DATABASE_URL: must begin with postgres://'],
  ])('refuses %j and names the key', (environment, message) => {
    expect(() => parseHubConfig(environment)).toThrow(message);
  });

  it('prints no password', () => {
    const config = parseHubConfig({ DATABASE_URL: 'postgres://atoll:canary@db:5432/atoll?password=canary' });
    expect(JSON.stringify(redactHubConfig(config))).not.toContain('canary');
  });
});
