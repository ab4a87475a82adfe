/** Hubs for medium tests: in this process, on ports of their own, several on one database when a test asks. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { inject } from 'vitest';

import { claimPort } from '#testing';
import type { HubConfig } from '../src/platform/config/hub-config.ts';
import { startHub, type RunningHub } from '../src/start-hub.ts';

let databaseCount = 0;

/** A new empty database on the server of this run. */
export async function createTestDatabase(): Promise<string> {
  const url = new URL(inject('postgresUrl'));
  const client = new pg.Client({ connectionString: url.toString() });
  await client.connect();
  const name = `test_${process.pid}_${(databaseCount += 1)}`;
  await client.query(`CREATE DATABASE ${name}`);
  await client.end();
  url.pathname = `/${name}`;
  return url.toString();
}

export type TestHub = RunningHub & { readonly dataDir: string };

/** A replica on `databaseUrl`, with a certificate of its own unless `like` is given. `close` removes its folder. */
export async function startTestHub(
  databaseUrl: string,
  options: Partial<HubConfig> & { readonly like?: TestHub } = {},
): Promise<TestHub> {
  const { like, ...config } = options;
  const dataDir = await mkdtemp(join(tmpdir(), 'atoll-hub-'));
  const hub = await startHub({
    databaseUrl,
    dataDir,
    environment: 'development',
    listenAddress: '127.0.0.1',
    apiPort: 0,
    // A test may start the next hub on the port of this one, while agents dial it.
    agentPort: await claimPort(),
    metrics: { address: '127.0.0.1', port: 0 },
    agentTls: true,
    publicAgentAddresses: [],
    logLevel: 'silent',
    deleteLimits: { perAgent: 3, perActor: 20, fleet: 20 },
    replicaName: `replica-${(databaseCount += 1)}`,
    ...(like ? { tlsFiles: like.runtime.tls.files, adminTokenFile: like.ready.adminTokenFile } : {}),
    ...config,
  });
  const close = async (): Promise<void> => {
    await hub.close();
    await rm(dataDir, { recursive: true, force: true });
  };
  return { ...hub, dataDir, close };
}
