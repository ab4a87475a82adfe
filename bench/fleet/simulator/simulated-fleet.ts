/** All agents of one simulator process, and the load that is put on their objects. */
import { createSecureContext } from 'node:tls';
import { HEARTBEAT_INTERVAL_MS } from '#domain';
import { CLUSTERS_PER_AGENT } from '../fleet-model.ts';
import { BeatWheel } from './beat-wheel.ts';
import { FleetTally } from './fleet-tally.ts';
import type { SimulatorReport, SimulatorSettings } from './messages.ts';
import { SimulatedAgent } from './simulated-agent.ts';

const LOAD_TICK_MS = 50;
/** One change in so many is one of the phase, which the roll-ups count; the others change a term and numbers. */
const PHASE_EVERY = 4;

export class SimulatedFleet {
  readonly #agents: readonly SimulatedAgent[];
  readonly #wheel = new BeatWheel(HEARTBEAT_INTERVAL_MS);
  readonly #tally: FleetTally;
  #load: NodeJS.Timeout | undefined;
  #owed = 0;
  #changes = 0;

  constructor(settings: SimulatorSettings, onApplied: (hubUid: string, hubGeneration: number) => void) {
    const { fromAgent, toAgent, hubAddress, caPem, hubEpoch } = settings;
    this.#tally = new FleetTally(toAgent - fromAgent);
    const world = {
      hubAddress,
      secureContext: createSecureContext({ ca: caPem }),
      wheel: this.#wheel,
      tally: this.#tally,
      onApplied,
    };
    this.#agents = Array.from(
      { length: toAgent - fromAgent },
      (_, at) => new SimulatedAgent(fromAgent + at, world, { hubEpoch, revision: CLUSTERS_PER_AGENT }),
    );
  }

  dial(): void {
    for (const agent of this.#agents) agent.dialSoon();
  }

  load(changesPerSecond: number): void {
    clearInterval(this.#load);
    this.#owed = 0;
    if (changesPerSecond === 0) return;
    this.#load = setInterval(() => {
      this.#owed += (changesPerSecond * LOAD_TICK_MS) / 1000;
      for (; this.#owed >= 1; this.#owed -= 1) this.#disturb();
    }, LOAD_TICK_MS);
  }

  flood(agents: number): void {
    for (const [at, agent] of this.#agents.entries()) agent.flood(at < agents);
  }

  reset(): void {
    this.#tally.reset();
  }

  report(): SimulatorReport {
    return this.#tally.report();
  }

  stop(): void {
    this.load(0);
    this.flood(0);
    this.#wheel.stop();
    this.#tally.stop();
    for (const agent of this.#agents) agent.stop();
  }

  /** Round robin over the agents, so that each tells as rarely as it can. */
  #disturb(): void {
    this.#changes += 1;
    const agent = this.#agents[this.#changes % this.#agents.length];
    const slot = Math.floor(this.#changes / this.#agents.length) % CLUSTERS_PER_AGENT;
    agent?.disturb(slot, this.#changes % PHASE_EVERY === 0);
  }
}
