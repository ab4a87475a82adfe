/** What driver and simulator say to each other over the channel between the two processes. */

export interface SimulatorSettings {
  /** Numbers of the agents that this process plays: from, and one past the last. */
  readonly fromAgent: number;
  readonly toAgent: number;
  /** host:port that is dialled and signed. */
  readonly hubAddress: string;
  readonly caPem: string;
  readonly hubEpoch: string;
}

export type SimulatorCommand =
  /** All agents dial, after the jitter of an agent that has just lost its hub. */
  | { readonly do: 'dial' }
  /** So many RedisClusters a second change, spread over the agents, until another load is asked for; 0 ends it. */
  | { readonly do: 'load'; readonly changesPerSecond: number }
  /** So many agents tell all their RedisClusters anew, and again after each ack, as in a full resync; 0 ends it. */
  | { readonly do: 'flood'; readonly agents: number }
  /** Forgets the samples and peaks taken so far. */
  | { readonly do: 'reset' }
  | { readonly do: 'report' };

export interface SimulatorReport {
  readonly agents: number;
  /** Agents with a WebSocket, with a Welcome, and proven in sync: welcomed in step and their status acknowledged. */
  readonly open: number;
  readonly welcomed: number;
  readonly inSync: number;
  /** Monotonic ms of the first WebSocket since the last reset, and of the moment when the last agent was in sync. */
  readonly firstOpenAtMs: number | null;
  readonly allInSyncAtMs: number | null;
  readonly welcomes: number;
  /** Most Welcomes within one second. */
  readonly peakWelcomesPerSecond: number;
  readonly welcomesByMode: Readonly<Record<string, number>>;
  readonly failures: Readonly<Record<string, number>>;
  readonly statusResumed: number;
  readonly statusItemsAcked: number;
  /** From the change of an object to the ack of the batch that told it, in ms; a sample of at most 20,000. */
  readonly statusLatenciesMs: readonly number[];
  readonly statusItemsWaiting: number;
  readonly framesIn: number;
  readonly bytesIn: number;
  /** Of the simulator's own event loop since the last reset, in ms: above a second its agents are slower than real ones. */
  readonly lagP99Ms: number;
  readonly lagMaxMs: number;
}

export type SimulatorEvent =
  | { readonly is: 'ready' }
  | { readonly is: 'report'; readonly report: SimulatorReport }
  /** The agent's ack of this version was handed to its socket. */
  | { readonly is: 'applied'; readonly hubUid: string; readonly hubGeneration: number; readonly atMs: number };

/** The one clock of driver and simulator: monotonic, and the same in every process of a machine. */
export const monotonicMs = (): number => Number(process.hrtime.bigint()) / 1e6;
