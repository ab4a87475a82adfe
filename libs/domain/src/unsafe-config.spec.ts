import { describe, expect, it } from 'vitest';
import { explainUnsafeConfig } from './unsafe-config.ts';

describe('explainUnsafeConfig', () => {
  it.each([
    ['hz', '501'],
    ['hz', '0'],
    ['timeout', '5'],
    ['repl-timeout', '3'],
    ['repl-backlog-size', '1'],
    ['save', '60 0'],
    ['databases', '100000000'],
    ['maxclients', '1'],
    ['socket-mark-id', '7'],
    ['client-output-buffer-limit', 'normal 0 0 0 replica 1kb 0 0'],
    ['watchdog-period', '500'],
    ['rdma-port', '6380'],
    ['maxmemory', '512'],
    ['maxmemory', '4kb'],
    ['search-ext-load', '/data/dump.rdb'],
    ['sentinel', 'monitor x 127.0.0.1 6379 1'],
    ['import-mode', 'yes'],
    ['hide-user-data-from-log', 'NO'],
    ['rdb-version-check', 'relaxed'],
    ['repl-diskless-load', 'flush-before-load'],
  ])('%s %s is not taken', (name, value) => {
    expect(explainUnsafeConfig(name, value)).toMatch(/\w/);
  });

  it.each([
    ['hz', '500'],
    ['timeout', '0'],
    ['timeout', '300'],
    ['save', ''],
    ['save', '3600 1 300 100'],
    ['repl-backlog-size', '16kb'],
    ['client-output-buffer-limit', 'slave 0 0 0'],
    ['client-output-buffer-limit', 'normal 1kb 0 0'],
    ['hz', 'fast'],
    ['maxmemory-policy', 'bogus'],
    ['maxmemory', '0'],
    ['maxmemory', '4mb'],
    ['maxmemory', 'much'],
    ['hide-user-data-from-log', 'yes'],
    ['repl-diskless-load', 'on-empty-db'],
    ['constructor', 'x'],
  ])('%s %j is the server’s to judge', (name, value) => {
    expect(explainUnsafeConfig(name, value)).toBeUndefined();
  });
});
