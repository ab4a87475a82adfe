import type { Logger } from 'pino';
import type { DataSource } from 'typeorm';

import type { HubConfig } from '../config/hub-config.ts';
import type { DatabaseSockets } from '../database/database-sockets.ts';
import type { HubIdentity } from '../database/hub-identity.ts';
import type { Pools } from '../database/pools.ts';
import type { Metrics } from '../telemetry/metrics.ts';
import type { TlsMaterial } from '../tls/tls-material.ts';
import type { AwakeClock } from './awake-clock.ts';
import type { CommitWatch } from './commit-watch.ts';
import type { OutageWatch } from './outage-watch.ts';
import type { StopPatience } from './stop-patience.ts';

/** Where the hub can be reached; known once it listens. */
export interface HubAddresses {
  /** host:port of the API. */
  api: string;
  /** host:port that agents may dial and sign; the first is the default. */
  agents: readonly string[];
}

/** What exists before the application does, handed to it as values by PlatformModule. */
export interface HubRuntime {
  readonly config: HubConfig;
  readonly replica: string;
  readonly version: string;
  readonly log: Logger;
  readonly metrics: Metrics;
  /** The pool of the agents, their status and the workers. */
  readonly dataSource: DataSource;
  readonly pools: Pools;
  readonly databaseUrl: string;
  readonly databaseSockets: DatabaseSockets;
  /** Changes when the database turns out to be another one; read it when it is needed. */
  readonly identity: HubIdentity;
  /** False while another database than before was found and `identity` does not say so yet. */
  readonly isLineageKnown: () => boolean;
  /** Told after `identity` has a new epoch. */
  readonly epochListeners: Set<() => void>;
  readonly tls: TlsMaterial;
  readonly addresses: HubAddresses;
  readonly readiness: Readiness;
  readonly stopPatience: StopPatience;
}

/** Whether this replica wants traffic. */
export class Readiness {
  #draining = false;
  /** What is wrong and does not make this replica unready; people read it at `/readyz`. */
  concerns: readonly { readonly code: string; readonly message: string }[] = [];
  readonly commits: CommitWatch;
  readonly outages: Pick<OutageWatch, 'current' | 'note'>;
  /** Stands still while this process does. */
  readonly awake: Pick<AwakeClock, 'nowMs'>;

  constructor({ commits, outages, awake }: Pick<Readiness, 'commits' | 'outages' | 'awake'>) {
    [this.commits, this.outages, this.awake] = [commits, outages, awake];
  }

  get draining(): boolean {
    return this.#draining;
  }

  drain(): void {
    this.#draining = true;
  }
}

/** Injection tokens; DataSource, Metrics and Readiness are injected by their classes. */
export const RUNTIME = Symbol('RUNTIME');
export const CONFIG = Symbol('CONFIG');
export const LOG = Symbol('LOG');
