/**
 * The hub of a state machine run: the real sessions, sender, delivery book and inventory on a real PostgreSQL, for one
 * agent, with every frame in a queue that the run delivers, loses or leaves in a dead connection. It can be put back to
 * what it was, with a new epoch or, as a restore that nobody noticed, with the old one.
 */
import { randomUUID } from 'node:crypto';
import { createLogger } from '../../src/platform/telemetry/logger.ts';
import { Metrics } from '../../src/platform/telemetry/metrics.ts';
import { StatusRepository } from '../../src/features/agent-link/status/status.repository.ts';
import type { RedisClusterObject } from '#domain';
import type { AgentMessage, Hello, HubMessage, Welcome } from '#protocol';
import type { DataSource } from 'typeorm';
import { HOLD_BEFORE_RESTORE } from '../../src/features/agent-link/desired/delete-breaker.rules.ts';
import { holdDeletes } from '../../src/features/agent-link/desired/judge-deletes.ts';
import { AgentSession } from '../../src/features/agent-link/connections/agent-session.ts';
import { DeliveryBook } from '../../src/features/agent-link/desired/delivery-book.ts';
import { DesiredRepository } from '../../src/features/agent-link/desired/desired.repository.ts';
import { DesiredSender } from '../../src/features/agent-link/desired/desired-sender.ts';
import type { InventoryNote } from '../../src/features/agent-link/sessions/inventory-recorder.ts';
import { InventoryRepository } from '../../src/features/agent-link/desired/inventory.repository.ts';
import { chooseResumeMode } from '../../src/features/agent-link/sessions/resume-mode.rules.ts';
import { SessionRepository } from '../../src/features/agent-link/sessions/session.repository.ts';
import { Turns } from '../../src/features/agent-link/desired/turns.ts';
import { systemClock } from '../../src/platform/lifecycle/time-and-ids.ts';
import { buildStatusItem } from '../../../agent/src/link/build-status-item.ts';
import { AgentRowsDump } from './agent-rows-dump.ts';
import { MachineWire, SentDeletes } from './machine-wire.ts';

const DAY_MS = 24 * 3_600_000;

/** Frames wait here until the run delivers them. */
export interface MachineConnection {
  readonly session: AgentSession;
  readonly toAgent: HubMessage[];
  readonly toHub: AgentMessage[];
  readonly wire: MachineWire;
  open: boolean;
}

/** What its connections are judged by. */
export interface HubFacts {
  readonly nowMs: () => number;
  readonly isApproved: (hubUid: string) => boolean;
}

export class MachineHub {
  readonly agentId: string;
  readonly dataSource: DataSource;
  epoch = randomUUID() as string;
  readonly #replica = `machine-${randomUUID()}`;
  readonly #log = createLogger('silent', 'machine');
  readonly #working = new Set<Promise<unknown>>();
  readonly #sessions: SessionRepository;
  readonly #desired: DesiredRepository;
  readonly #book: DeliveryBook;
  readonly #inventory: InventoryRepository;
  readonly #turns = new Turns(8);
  readonly #metrics = new Metrics();
  readonly #rows: AgentRowsDump;
  readonly #sentDeletes: SentDeletes;
  readonly #violations: string[] = [];
  readonly #status: StatusRepository;
  #statusBatches = 0;
  failure: unknown;

  /** `perAgent`: deletes that the hub lets pass in five minutes. */
  constructor(dataSource: DataSource, agentId: string, perAgent: number, facts: HubFacts) {
    this.#sentDeletes = new SentDeletes(perAgent, facts.nowMs, facts.isApproved);
    this.dataSource = dataSource;
    this.agentId = agentId;
    this.#rows = new AgentRowsDump(dataSource, agentId);
    this.#sessions = this.#follow(new SessionRepository(dataSource, this.#replica));
    // The fleet's limit counts the other runs too.
    this.#desired = this.#follow(
      new DesiredRepository(dataSource, {
        readLimits: () => Promise.resolve({ perAgent, perActor: 1_000_000, fleet: 1_000_000 }),
        isLineageKnown: () => true,
      }),
    );
    this.#book = new DeliveryBook(dataSource);
    this.#inventory = new InventoryRepository(dataSource);
    this.#status = new StatusRepository(dataSource, systemClock);
  }

  /** Calls that nobody waits for are waited for by `settled`. */
  #follow<T extends object>(target: T): T {
    return new Proxy(target, {
      get: (from, name) => {
        const value: unknown = Reflect.get(from, name, from);
        if (typeof value !== 'function') return value;
        return (...args: unknown[]): unknown => {
          const result: unknown = Reflect.apply(value, from, args);
          if (result instanceof Promise) this.#track(result);
          return result;
        };
      },
    });
  }

  #track(work: Promise<unknown>): void {
    this.#working.add(work);
    void work.catch(() => undefined).finally(() => this.#working.delete(work));
  }

  /** Resolves when nothing is under way any more. */
  async settled(): Promise<void> {
    for (let idle = 0; idle < 2; idle += 1) {
      if (this.#working.size > 0) idle = -1;
      await Promise.allSettled([...this.#working]);
      await new Promise((done) => setImmediate(done));
    }
  }

  /** What its connections said that they must not, since the last look. */
  takeViolations(): readonly string[] {
    return this.#violations.splice(0);
  }

  /** `hinted`: a hint of a change comes before it is known how the session begins. */
  async connect(hello: Hello, hinted: boolean): Promise<MachineConnection> {
    const agent = await this.#sessions.findAgent(this.agentId);
    if (!agent) throw new Error('the agent of the run is gone');
    const accepted = await this.#sessions.accept({ agent, hello, signedWith: Buffer.alloc(32) }, Date.now());
    if (!accepted.accepted) throw new Error(`the agent of the run is refused: ${accepted.reason}`);
    const { mode, reason } = chooseResumeMode(accepted.head, hello, this.epoch);
    const connection = this.#open(agent, accepted.sessionNo, hello);
    if (hinted) {
      connection.session.sender.wake();
      await this.settled();
    }
    const welcome = { type: 'Welcome', nonce: 'w', payload: this.#welcome(accepted.sessionNo, mode) } as const;
    connection.wire.hubSays(welcome);
    connection.toAgent.push(welcome);
    if (reason === 'AGENT_AHEAD') await this.#desired.holdAsRestored(this.agentId);
    connection.session.begin(mode, hello.appliedRevision, accepted);
    await this.settled();
    if (hinted) connection.session.sender.wake();
    await this.settled();
    return connection;
  }

  #welcome(sessionNo: number, mode: 'DELTA' | 'SNAPSHOT' | 'INVENTORY'): Welcome {
    const limits = { statusWindow: 2, heartbeatIntervalMs: 15_000, maxFrameBytes: 1_000_000 };
    return { protocolVersion: 1, sessionNo, hubEpoch: this.epoch, hubTime: new Date().toISOString(), mode, limits };
  }

  #open(agent: unknown, sessionNo: number, hello: Hello): MachineConnection {
    const toAgent: HubMessage[] = [];
    const wire = new MachineWire(this.#sentDeletes, (text) => void this.#violations.push(text));
    const connection = { toAgent, toHub: [] as AgentMessage[], wire, open: true } as {
      -readonly [K in keyof MachineConnection]: MachineConnection[K];
    };
    let count = 0;
    const peer = {
      get isOpen(): boolean {
        return connection.open;
      },
      send: (type: string, payload: unknown, nonce?: string): Promise<string> => {
        const used = nonce ?? `h${(count += 1)}`;
        const message = { type, nonce: used, payload } as HubMessage;
        wire.hubSays(message);
        if (connection.open) toAgent.push(message);
        return Promise.resolve(used);
      },
      close: (): void => void (connection.open = false),
    };
    const sender = new DesiredSender({
      agentId: this.agentId,
      sessionNo,
      crdSchemaHash: hello.crdSchemaHash,
      peer: peer as never,
      desired: this.#desired,
      turns: this.#turns,
      nowMs: () => Date.now(),
      // The machine moves one clock.
      monotonicMs: () => Date.now(),
      onSettled: () => undefined,
      onFailure: (error) => (this.failure ??= error),
      onFenced: () => void connection.session.endFenced(),
    });
    connection.session = new AgentSession({
      agent: agent as never,
      sessionNo,
      peer: peer as never,
      sender,
      link: this.#linkParts() as never,
      inventory: hello.inventory,
      log: this.#log,
    });
    return connection;
  }

  #linkParts(): object {
    const { inventory, book } = { inventory: this.#inventory, book: this.#book };
    return {
      book,
      inventory,
      inventories: { note: (note: InventoryNote) => void this.#sessions.setInventories([note]) },
      sessions: this.#sessions,
      turns: this.#turns,
      metrics: this.#metrics,
      clock: systemClock,
    };
  }

  /** The hub takes one frame; what fails closes the connection, as the real one does. */
  async take(connection: MachineConnection, frame: AgentMessage): Promise<void> {
    connection.wire.hubTakes(frame);
    await connection.session.handle(frame);
    await this.settled();
  }

  /** Status of these objects, as their agent tells it. */
  async takeStatus({ session }: MachineConnection, objects: readonly RedisClusterObject[]): Promise<void> {
    const items = objects.map((object) => buildStatusItem(object, { unclaimed: false }));
    this.#statusBatches += 1;
    const batch = { counter: this.#statusBatches, items };
    await this.#status.commit([{ session, batch }]);
  }

  /** What wakes a session: a hint or the poll behind it. */
  async poll(connection: MachineConnection): Promise<void> {
    const due = await this.#desired.findDue(this.#replica, DAY_MS);
    if (due.has(this.agentId)) connection.session.sender.wake(due.get(this.agentId));
    await this.settled();
  }

  async close(connection: MachineConnection): Promise<void> {
    connection.open = false;
    await connection.session.close();
    await this.settled();
  }

  dump(): Promise<void> {
    return this.#rows.take();
  }

  /** False when there is no dump. `noticed`: the restore is known to be one, so the epoch is a new one. */
  async restore(noticed: boolean): Promise<boolean> {
    if (!(await this.#rows.putBack())) return false;
    this.#sentDeletes.forget();
    if (!noticed) return true;
    this.epoch = randomUUID();
    // As the trigger of hub_identity does it, which would reach every run.
    await holdDeletes(this.dataSource, this.agentId, HOLD_BEFORE_RESTORE);
    return true;
  }
}
