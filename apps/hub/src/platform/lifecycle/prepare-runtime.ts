/** Makes what the application is built on: database, schema, identity, certificate. Each step adds its own way back. */
import { join } from 'node:path';
import type { Logger } from 'pino';
import type { DataSource, EntityManager } from 'typeorm';

import type { HubConfig } from '../config/hub-config.ts';
import { WORKER_LOCK } from '../database/claimed-worker.ts';
import { type DatabaseLineage, ensureHubIdentity, type HubIdentity } from '../database/hub-identity.ts';
import { LineageGuard } from '../database/lineage-guard.ts';
import { migrate, openDataSource, type Schema } from '../database/open-data-source.ts';
import { maintainPartitions } from '../database/partitions.ts';
import { SignalConnection } from '../database/signal-connection.ts';
import { signalsOf } from '../database/signals.ts';
import { supervisePostgres } from '../database/supervise-postgres.ts';
import { workOnLineage } from '../database/work-on-lineage.ts';
import { Metrics } from '../telemetry/metrics.ts';
import { loadGivenTls, loadOwnTls, type TlsMaterial } from '../tls/tls-material.ts';
import { lockDataFolder } from './data-folder-lock.ts';
import { type HubRuntime, Readiness } from './hub-runtime.ts';
import { systemClock, systemIds } from './time-and-ids.ts';
import { readHubVersion } from './hub-version.ts';

type CleanUps = (() => Promise<unknown>)[];

export async function prepareRuntime(
  config: HubConfig,
  replica: string,
  log: Logger,
  schema: Schema,
  cleanUps: CleanUps,
): Promise<HubRuntime> {
  const databaseUrl = config.databaseUrl ?? (await startOwnDatabase(config, log, cleanUps));
  const guard = new LineageGuard();
  const dataSource = await openDataSource(databaseUrl, schema, { name: replica, log }, guard);
  cleanUps.push(() => dataSource.destroy());
  const ran = await migrate(dataSource, databaseUrl);
  if (ran.length > 0) log.info({ migrations: ran }, 'schema brought up to date');
  const identity = await prepareDatabase(dataSource.manager);
  const epochListeners = new Set<() => void>();
  guard.onChange((lineage) => followLineage({ dataSource, lineage, identity, listeners: epochListeners, log }));
  const signalConnection = new SignalConnection(signalsOf(dataSource), databaseUrl, replica, log);
  await signalConnection.open();
  cleanUps.push(() => signalConnection.close());
  return {
    config,
    replica,
    version: await readHubVersion(),
    log,
    metrics: new Metrics(),
    dataSource,
    databaseUrl,
    identity,
    epochListeners,
    tls: await loadTls(config),
    addresses: { api: '', agents: [] },
    readiness: new Readiness(),
  };
}

async function startOwnDatabase(config: HubConfig, log: Logger, cleanUps: CleanUps): Promise<string> {
  cleanUps.push(await lockDataFolder(config.dataDir));
  const server = await supervisePostgres(config.dataDir, log);
  cleanUps.push(() => server.stop());
  log.warn(
    { postgresPid: server.pid, adopted: server.adopted },
    'embedded PostgreSQL: for trying out, not for production; set DATABASE_URL there',
  );
  return server.databaseUrl;
}

const prepareDatabase = (manager: EntityManager): ReturnType<typeof ensureHubIdentity> =>
  manager.transaction(async (tx) => {
    // Makers of one partition would fail each other.
    await tx.query('SELECT pg_advisory_xact_lock($1)', [WORKER_LOCK.housekeeping]);
    await maintainPartitions(tx, systemClock.nowMs());
    return ensureHubIdentity(tx, systemIds.newId(), systemClock.nowMs());
  });

/** The database is another one than at start: its epoch is read, or made, and whoever told the old one is told. False: not yet. */
async function followLineage(change: {
  readonly dataSource: DataSource;
  readonly lineage: DatabaseLineage;
  readonly identity: HubIdentity;
  readonly listeners: ReadonlySet<() => void>;
  readonly log: Logger;
}): Promise<boolean> {
  const { dataSource, lineage, identity, listeners, log } = change;
  try {
    const { hubEpoch } = await workOnLineage(dataSource, lineage, prepareDatabase);
    if (hubEpoch === identity.hubEpoch) return true;
    log.warn({ before: identity.hubEpoch, hubEpoch }, 'the database is another one than before: the hub epoch changes');
    identity.hubEpoch = hubEpoch;
    for (const listener of listeners) listener();
    return true;
  } catch (error) {
    log.error(
      { err: error },
      'the lineage of the database could not be followed; it is tried with the next connection',
    );
    return false;
  }
}

function loadTls(config: HubConfig): Promise<TlsMaterial> {
  if (config.tlsFiles) return loadGivenTls(config.tlsFiles, config.nextCaFile, systemClock.nowMs());
  const addresses = [...config.publicAgentAddresses, ...(config.publicApiAddress ? [config.publicApiAddress] : [])];
  const hosts = addresses.map((address) => address.replace(/:\d+$/, '').replace(/^\[|\]$/g, ''));
  return loadOwnTls(
    join(config.dataDir, 'tls'),
    [...new Set([...hosts, 'localhost', '127.0.0.1'])],
    systemClock.nowMs(),
    config.ownCa,
  );
}
