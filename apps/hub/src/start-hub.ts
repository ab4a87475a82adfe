/**
 * Starts one hub replica: database, identity, certificate, application, listeners, in that order, so that whatever
 * listens can already do its work. Everything started is stopped in the opposite order, also when a later step fails.
 */
import 'reflect-metadata';
import { NestFactory } from '@nestjs/core';
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify';
import { rename, writeFile } from 'node:fs/promises';
import type { RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { hostname } from 'node:os';
import { join, resolve } from 'node:path';

import { AppModule } from './app.module.ts';
import { AgentListener, NextCaTeller } from './features/agent-link/index.ts';
import { type HubConfig, redactHubConfig } from './platform/config/hub-config.ts';
import { type HubRuntime } from './platform/lifecycle/hub-runtime.ts';
import { makeDataFolder } from './platform/lifecycle/make-data-folder.ts';
import { prepareRuntime } from './platform/lifecycle/prepare-runtime.ts';
import { startHousekeeping } from './platform/lifecycle/housekeeping.ts';
import { answerBroken, createApiServer } from './platform/connections/api-server.ts';
import { watchStrangers } from './platform/connections/watch-strangers.ts';
import { SubscriptionServer } from './platform/graphql/index.ts';
import { listenForMetrics } from './platform/telemetry/metrics-listener.ts';
import { createLogger, toNestLogger } from './platform/telemetry/logger.ts';
import { schema } from './schema.ts';

/** Written to ready.json, for tools that started the hub. */
export interface HubReady {
  readonly apiUrl: string;
  readonly agentAddress: string;
  readonly metricsUrl: string;
  readonly caFile: string;
  readonly adminTokenFile: string;
  readonly databaseUrl: string;
  readonly pid: number;
}

export interface RunningHub {
  readonly ready: HubReady;
  readonly runtime: HubRuntime;
  readonly app: NestFastifyApplication;
  close(): Promise<void>;
}

export async function startHub(config: HubConfig): Promise<RunningHub> {
  const replica = config.replicaName ?? `${hostname()}-${process.pid}`;
  const log = createLogger(config.logLevel, replica);
  log.info({ config: redactHubConfig(config) }, 'effective configuration');
  const cleanUps: (() => Promise<unknown>)[] = [];
  const close = async (): Promise<void> => {
    for (const cleanUp of cleanUps.splice(0).reverse()) {
      await cleanUp().catch((error: unknown) => log.error({ err: error }, 'a step of the stop failed'));
    }
  };
  try {
    await makeDataFolder(config.dataDir, 0o711);
    const runtime = await prepareRuntime(config, replica, log, schema, cleanUps);
    const app = await createApplication(runtime);
    cleanUps.push(() => app.close());
    const metrics = await listenForMetrics(runtime.metrics, config.metrics.port, config.metrics.address);
    cleanUps.push(() => metrics.close());
    const ready = await listen(app, runtime, metrics.port);
    const nextCa = app.get(NextCaTeller);
    const servers = [app.getHttpServer(), ...app.get(AgentListener).tlsServers];
    cleanUps.push(startHousekeeping(runtime, servers, (change) => nextCa.look(change)));
    await writeReadyFile(config.dataDir, ready);
    cleanUps.push(() => beginStop(runtime));
    log.info({ apiUrl: ready.apiUrl, agentAddress: ready.agentAddress, hubEpoch: runtime.identity.hubEpoch }, 'ready');
    return { ready, runtime, app, close };
  } catch (error) {
    await close();
    throw error;
  }
}

/** The first step of a stop: nobody new is led here, and the steps after it wait for the database no longer than is right. */
function beginStop({ readiness, stopPatience }: HubRuntime): Promise<void> {
  readiness.drain();
  void stopPatience.begin();
  return Promise.resolve();
}

async function createApplication(runtime: HubRuntime): Promise<NestFastifyApplication> {
  const { certificate: cert, privateKey: key } = runtime.tls;
  const adapter = new FastifyAdapter({
    serverFactory: (handle: RequestListener) => createApiServer({ cert, key }, handle),
    clientErrorHandler: answerBroken,
    bodyLimit: 1024 * 1024,
    forceCloseConnections: true,
  });
  return NestFactory.create<NestFastifyApplication>(AppModule.forRuntime(runtime), adapter, {
    logger: toNestLogger(runtime.log),
    abortOnError: false,
  });
}

async function listen(app: NestFastifyApplication, runtime: HubRuntime, metricsPort: number): Promise<HubReady> {
  const { config, addresses } = runtime;
  watchStrangers(app.getHttpServer());
  app.get(SubscriptionServer).attach(app.getHttpServer());
  await app.listen(config.apiPort, config.listenAddress);
  const apiPort = (app.getHttpServer().address() as AddressInfo).port;
  const agentPort = await app.get(AgentListener).listen(config.agentPort, config.listenAddress);
  const host = reachable(config.listenAddress);
  addresses.api = withRealPort(config.publicApiAddress ?? `${host}:0`, apiPort);
  const publicAgents = config.publicAgentAddresses.map((each) => withRealPort(each, agentPort));
  addresses.agents = publicAgents.length > 0 ? publicAgents : [`${host}:${agentPort}`];
  return {
    apiUrl: `https://${addresses.api}`,
    agentAddress: addresses.agents[0] ?? '',
    metricsUrl: `http://${reachable(config.metrics.address)}:${metricsPort}/metrics`,
    caFile: resolve(runtime.tls.files.caFile),
    adminTokenFile: resolve(config.adminTokenFile ?? join(config.dataDir, 'admin-token')),
    databaseUrl: runtime.databaseUrl,
    pid: process.pid,
  };
}

/** Port 0 takes any free one; what agents are told is the one it became. */
const withRealPort = (address: string, port: number): string => address.replace(/:0$/, `:${port}`);

const reachable = (address: string): string => (address === '0.0.0.0' || address === '::' ? 'localhost' : address);

async function writeReadyFile(dataDir: string, ready: HubReady): Promise<void> {
  const file = join(dataDir, 'ready.json');
  await writeFile(`${file}.partial`, `${JSON.stringify(ready, null, 2)}\n`, { mode: 0o600 });
  await rename(`${file}.partial`, file);
}
