/**
 * The connections of one replica, in pools apart: what callers of the API ask for may use up its own pool and nothing else.
 * Agents, their status and the workers have one; so have the looks at tokens and at the health of the database, which both must
 * work while the API is busy, or every replica would leave its Service for the load of one caller.
 */
import { DataSource } from 'typeorm';

import type { DatabaseSockets } from './database-sockets.ts';
import type { JobLimits } from './job-line.ts';
import type { LineageGuard } from './lineage-guard.ts';
import { openDataSource, type Schema } from './open-data-source.ts';
import type { PoolRenewal } from './pool-renewal.ts';
import type { PoolSizes } from './pool-sizes.ts';
import { shareSignals } from './signals.ts';

/** Of one principal of the API, at once. */
const JOBS_PER_PRINCIPAL = 4;
/** The largest answers ask for some hundreds of reads. */
const WAITING_PER_PRINCIPAL = 500;
const JOB_WAIT_MS = 10_000;
/** For principals that hold no connection: never so many that others could not work. */
const RESERVED = 2;
/** A read of a large fleet takes a tenth of this; an index that is missing takes more. */
export const READ_TIMEOUT_MS = 5_000;

/** The pool of the API: reads end after READ_TIMEOUT_MS, mutations set their own time. */
export class ApiDatabase extends DataSource {}
/** Tokens and health: small reads that must not wait. */
export class AccessDatabase extends DataSource {}

export interface Pools {
  /** Agents, status, workers. */
  readonly link: DataSource;
  readonly api: ApiDatabase;
  readonly access: AccessDatabase;
}

/** Opens those that wait for `link`, which has migrated the schema. */
export async function openFurtherPools(
  databaseUrl: string,
  schema: Schema,
  replica: {
    readonly name: string;
    readonly sockets: DatabaseSockets;
    readonly renewal: PoolRenewal;
    readonly sizes: PoolSizes;
  },
  { link, guard }: { readonly link: DataSource; readonly guard: LineageGuard },
): Promise<Pools> {
  const { sizes, ...shared } = replica;
  const open = (use: 'api' | 'access', jobs: JobLimits): Promise<DataSource> => {
    const limits = { statementTimeoutMs: READ_TIMEOUT_MS, jobs };
    return openDataSource(databaseUrl, schema, { ...shared, use, size: sizes[use], ...limits }, guard);
  };
  const api = await open('api', limitJobs(sizes.api));
  const access = await open('access', shareAccess(sizes.access));
  shareSignals(link, api);
  return { link, api, access };
}

/** Tokens, unknown tokens and health are the owners here, so that none of them waits for another. */
const shareAccess = (slots: number): JobLimits => ({
  slots,
  perOwner: Math.max(1, slots - 2),
  reserved: 0,
  maxWaiting: 2_000,
  maxWaitMs: READ_TIMEOUT_MS,
});

const limitJobs = (slots: number): JobLimits => ({
  slots,
  perOwner: Math.min(JOBS_PER_PRINCIPAL, Math.max(1, slots - 1)),
  reserved: Math.min(RESERVED, slots - 1),
  maxWaiting: WAITING_PER_PRINCIPAL,
  maxWaitMs: JOB_WAIT_MS,
});
