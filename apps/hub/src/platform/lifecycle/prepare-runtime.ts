/** Makes what the application is built on: database, schema, identity, certificate. Each step adds its own way back. */
import { join } from 'node:path';
import type { Logger } from 'pino';
import type { EntityManager } from 'typeorm';

import type { HubConfig } from '../config/hub-config.ts';
import { WORKER_LOCK } from '../database/advisory-locks.ts';
import { DatabaseSockets } from '../database/database-sockets.ts';
import { ensureHubIdentity, type HubIdentity } from '../database/hub-identity.ts';
import { LineageGuard } from '../database/lineage-guard.ts';
import { migrate } from '../database/migrate.ts';
import { onFailedStatement } from '../database/on-failed-statement.ts';
import { openDataSource, type Schema } from '../database/open-data-source.ts';
import { makePartitions } from '../database/partitions.ts';
import { PoolRenewal } from '../database/pool-renewal.ts';
import { DEFAULT_POOL_SIZES } from '../database/pool-sizes.ts';
import { openFurtherPools } from '../database/pools.ts';
import { SignalConnection } from '../database/signal-connection.ts';
import { signalsOf } from '../database/signals.ts';
import { supervisePostgres } from '../database/supervise-postgres.ts';
import { Metrics } from '../telemetry/metrics.ts';
import { loadGivenTls, loadOwnTls, type TlsMaterial } from '../tls/tls-material.ts';
import { lockDataFolder } from './data-folder-lock.ts';
import { followEpoch } from './follow-epoch.ts';
import { type HubRuntime, Readiness } from './hub-runtime.ts';
import { StartPatience } from './start-patience.ts';
import { StopPatience } from './stop-patience.ts';
import { systemClock, systemIds } from './time-and-ids.ts';
import { readHubVersion } from './hub-version.ts';
import { watchDatabase } from './watch-database.ts';

type CleanUps = (() => Promise<unknown>)[];

export async function prepareRuntime(
  config: HubConfig,
  replica: string,
  log: Logger,
  schema: Schema,
  cleanUps: CleanUps,
): Promise<HubRuntime> {
  const databaseUrl = config.databaseUrl ?? (await startOwnDatabase(config, log, cleanUps));
  const patience = new StartPatience({ log, nowMs: () => systemClock.monotonicMs(), random: Math.random });
  const guard = new LineageGuard();
  const databaseSockets = new DatabaseSockets();
  const renewal = new PoolRenewal(() => systemClock.monotonicMs());
  const sizes = config.databasePools ?? DEFAULT_POOL_SIZES;
  const connection = { name: replica, sockets: databaseSockets, renewal, size: sizes.link };
  const dataSource = await patience.carry(() => openDataSource(databaseUrl, schema, connection, guard));
  const watch = watchDatabase({ dataSource, databaseUrl, sockets: databaseSockets, guard, renewal, log });
  const { commits, probe } = watch;
  const countCommits = (): number => commits.count;
  const stopPatience = new StopPatience({ log, sockets: databaseSockets, probe, countCommits });
  cleanUps.push(() => watch.close());
  // Runs after the pool has ended, which may wait for the database as well.
  cleanUps.push(() => Promise.resolve(stopPatience.end()));
  cleanUps.push(() => dataSource.destroy());
  const ran = await patience.carry(() => migrate(dataSource, databaseUrl, log));
  if (ran.length > 0) log.info({ migrations: ran }, 'schema brought up to date');
  const further = { name: replica, sockets: databaseSockets, renewal, sizes };
  const pools = await patience.carry(() => openFurtherPools(databaseUrl, schema, further, { link: dataSource, guard }));
  cleanUps.push(() => Promise.all([pools.api.destroy(), pools.access.destroy()]));
  for (const pool of [pools.api, pools.access]) onFailedStatement(pool, (error) => watch.outages.note(error));
  const identity = await patience.carry(() => prepareDatabase(dataSource.manager));
  const epochListeners = new Set<() => void>();
  const following = { dataSource, guard, identity, log, listeners: epochListeners, leaveEpoch: prepareDatabase };
  const stop = followEpoch({ ...following, onStandby: watch.onStandby, onStray: watch.onStray });
  cleanUps.push(() => Promise.resolve(stop()));
  const signals = signalsOf(dataSource);
  const signalConnection = new SignalConnection(signals, databaseUrl, { replica, log, sockets: databaseSockets });
  cleanUps.push(() => signalConnection.close());
  await patience.carry(() => signalConnection.open());
  watch.start();
  return {
    config,
    replica,
    version: await readHubVersion(),
    log,
    metrics: new Metrics(),
    dataSource,
    pools,
    databaseUrl,
    databaseSockets,
    identity,
    isLineageKnown: () => guard.isFollowed,
    epochListeners,
    tls: await loadTls(config),
    addresses: { api: '', agents: [] },
    readiness: new Readiness(watch),
    stopPatience,
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

const prepareDatabase = (manager: EntityManager, leave?: HubIdentity): ReturnType<typeof ensureHubIdentity> =>
  manager.transaction(async (tx) => {
    // Makers of one partition would fail each other.
    await tx.query('SELECT pg_advisory_xact_lock($1)', [WORKER_LOCK.housekeeping]);
    // One that cannot be made keeps nobody from starting: housekeeping tells it.
    await makePartitions(tx, systemClock.nowMs());
    return ensureHubIdentity(tx, systemIds.newId(), systemClock.nowMs(), leave);
  });

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
