/** Figures of one fleet as rows: ours, the published one beside it, and the goal. */
import { asBenchRow, percentile, type BenchFigure, type BenchRow } from '../bench-row.ts';
import { ANCHORS } from './anchors.ts';
import { CLUSTERS_PER_AGENT } from './fleet-model.ts';
import { LOAD_PER_SECOND, type FleetFigures } from './fleet-run.ts';
import type { Gathering } from './measure-connect.ts';
import { findCeiling } from './measure-ingest.ts';

/** Goals are those of 10,000 member clusters on one hub; a smaller fleet has to keep them as well. */
const GOAL = {
  restartSeconds: 60,
  outageSeconds: 120,
  changeP99Ms: 250,
  hubMib: { hub: 1024, haproxy: 512 },
  rollUpP99Ms: 10,
  listP99Ms: 30,
  steadyCore: 30,
} as const;

const formName = { hub: 'TLS in the hub', haproxy: 'TLS ended by HAProxy' } as const;
export const groupName = ({ clusters, tls }: Pick<FleetFigures, 'clusters' | 'tls'>): string =>
  `${clusters.toLocaleString('en')} member clusters, ${formName[tls]}`;

export function toRows(figures: FleetFigures): BenchRow[] {
  const group = groupName(figures);
  const all = [connectRows, restartRows, steadyRows, changeRows, ingestRows, queryRows, storageRows];
  return all.flatMap((rows) => rows(figures)).map((figure) => asBenchRow({ ...figure, group }));
}

const perAgent = (seconds: number, agents: number): number => (seconds * 1000) / agents;

const gatheringRows = (
  name: string,
  { gathering, agents }: { gathering: Gathering; agents: number },
): BenchFigure[] => [
  { name: `${name}: most Welcomes in a second`, value: gathering.peakPerSecond, unit: '/s' },
  { name: `${name}: dials that failed`, value: gathering.failedDials, unit: '' },
  { name: `${name}: status proven by its digest`, value: gathering.resumed, unit: '' },
  { name: `${name}: longest lag of the simulator`, value: gathering.simulatorLagMs, unit: 'ms' },
  { name: `${name}: snapshots and inventories`, value: gathering.notInStep, unit: '', goal: 0 },
  { name: `${name}: CPU of the hub, an agent`, value: perAgent(gathering.hubCpuSeconds, agents), unit: 'ms' },
  { name: `${name}: CPU of PostgreSQL, an agent`, value: perAgent(gathering.postgresCpuSeconds, agents), unit: 'ms' },
];

function connectRows({ connect, clusters }: FleetFigures): BenchFigure[] {
  return [
    {
      name: 'connect-all: first accept → all in sync',
      value: connect.fromFirstAcceptSeconds,
      unit: 's',
      ...ANCHORS.connect,
    },
    {
      name: 'connect-all: agents a second',
      value: clusters / connect.fromFirstAcceptSeconds,
      unit: '/s',
      ...ANCHORS.connectRate,
    },
    ...gatheringRows('connect-all', { gathering: connect, agents: clusters }),
    { name: 'connect-all: hub, peak RSS', value: connect.span.hubPeakMib, unit: 'MiB', ...ANCHORS.herd },
    { name: 'connect-all: hub, peak CPU', value: connect.span.hubPeakCore, unit: '%' },
  ];
}

function restartRows({ restart, clusters }: FleetFigures): BenchFigure[] {
  return [
    {
      name: 'restart: first accept → all proven in sync',
      value: restart.fromFirstAcceptSeconds,
      unit: 's',
      goal: GOAL.restartSeconds,
      ...ANCHORS.restart,
    },
    {
      name: 'restart: kill -9 → all proven in sync',
      value: restart.fromBeginSeconds,
      unit: 's',
      goal: GOAL.outageSeconds,
      ...ANCHORS.resync,
    },
    { name: 'restart: start of the hub', value: restart.startSeconds, unit: 's' },
    ...gatheringRows('restart', { gathering: restart, agents: clusters }),
    { name: 'restart: hub, peak RSS', value: restart.span.hubPeakMib, unit: 'MiB' },
  ];
}

function steadyRows({ steady, clusters, tls }: FleetFigures): BenchFigure[] {
  const { span } = steady;
  const thousands = clusters / 1000;
  const front: BenchFigure[] =
    tls === 'haproxy' ? [{ name: 'steady: HAProxy', value: span.haproxyCore, unit: '%' }] : [];
  return [
    {
      name: 'steady: hub and PostgreSQL, of one core',
      value: span.hubCore + span.postgresCore,
      unit: '%',
      goal: GOAL.steadyCore,
    },
    { name: 'steady: hub', value: span.hubCore, unit: '%' },
    { name: 'steady: PostgreSQL', value: span.postgresCore, unit: '%' },
    ...front,
    { name: 'heartbeats: hub, per 1,000 agents', value: span.hubCore / thousands, unit: '%', ...ANCHORS.idleCpu },
    {
      name: 'steady: hub, RSS',
      value: steady.hubRssMib,
      unit: 'MiB',
      goal: GOAL.hubMib[tls],
      ...ANCHORS.sessionMemory,
    },
    {
      name: 'steady: hub, RSS per 1,000 agents',
      value: steady.hubRssMib / thousands,
      unit: 'MiB',
      ...ANCHORS.idleMemory,
    },
    { name: 'steady: hub, JavaScript heap', value: steady.hubHeapMib, unit: 'MiB' },
    { name: 'steady: event loop lag, P99', value: steady.eventLoopP99Ms, unit: 'ms' },
    { name: 'steady: WAL written', value: steady.walBytesPerSecond / 1024, unit: 'KiB/s' },
  ];
}

function changeRows({ changeIdleMs, changeLoadedMs, loaded }: FleetFigures): BenchFigure[] {
  const load = `${LOAD_PER_SECOND.toLocaleString('en')} status/s`;
  return [
    { name: 'change → applied, idle, P50', value: percentile(changeIdleMs, 0.5), unit: 'ms', ...ANCHORS.changeP50 },
    {
      name: 'change → applied, idle, P99',
      value: percentile(changeIdleMs, 0.99),
      unit: 'ms',
      goal: GOAL.changeP99Ms,
      ...ANCHORS.changeP99,
    },
    {
      name: `change → applied, ${load}, P50`,
      value: percentile(changeLoadedMs, 0.5),
      unit: 'ms',
      ...ANCHORS.changeP50,
    },
    {
      name: `change → applied, ${load}, P99`,
      value: percentile(changeLoadedMs, 0.99),
      unit: 'ms',
      goal: GOAL.changeP99Ms,
      ...ANCHORS.changeP99,
    },
    { name: `${load}: committed`, value: loaded.itemsPerSecond, unit: '/s' },
    { name: `${load}: hub`, value: loaded.span.hubCore, unit: '%' },
    { name: `${load}: PostgreSQL`, value: loaded.span.postgresCore, unit: '%' },
    { name: `${load}: WAL written`, value: loaded.walBytesPerSecond / 1024, unit: 'KiB/s' },
  ];
}

function ingestRows({ ingest }: FleetFigures): BenchFigure[] {
  const ceiling = findCeiling(ingest);
  return [
    { name: 'status ingest, ceiling', value: ceiling.itemsPerSecond, unit: '/s', ...ANCHORS.ingest },
    { name: '  agents that send without a pause', value: ceiling.agents, unit: '' },
    { name: '  ack, P99', value: ceiling.ackP99Ms, unit: 'ms' },
    { name: '  hub', value: ceiling.hubCore, unit: '%' },
    { name: '  PostgreSQL', value: ceiling.postgresCore, unit: '%' },
  ];
}

function queryRows({ queries }: FleetFigures): BenchFigure[] {
  return Object.entries(queries).flatMap(([name, { p50Ms, p99Ms }]): BenchFigure[] => {
    const isList = name.startsWith('list');
    const anchor = isList ? ANCHORS.list : ANCHORS.rollUp;
    return [
      { name: `${name}, P50`, value: p50Ms, unit: 'ms', ...anchor },
      { name: `${name}, P99`, value: p99Ms, unit: 'ms', goal: isList ? GOAL.listP99Ms : GOAL.rollUpP99Ms, ...anchor },
    ];
  });
}

function storageRows({ steady, clusters, databaseEndMib }: FleetFigures): BenchFigure[] {
  const objects = clusters * CLUSTERS_PER_AGENT;
  return [
    { name: 'PostgreSQL: size, connected', value: steady.databaseMib, unit: 'MiB' },
    {
      name: 'PostgreSQL: size, a RedisCluster',
      value: (steady.databaseMib * 1024) / objects,
      unit: 'KiB',
      ...ANCHORS.storage,
    },
    { name: 'PostgreSQL: size, at the end of the load', value: databaseEndMib, unit: 'MiB' },
  ];
}
