/**
 * One agent process of a state machine run: the real state, index, processor and snapshot receiver behind the real
 * welcomed session, on an API server that can kill the process before or after any single request.
 */
import { randomUUID } from 'node:crypto';
import { agentLimits, createMemoryKube } from '#testing';
import type { AgentMessage, Hello, HubMessage, Welcome } from '#protocol';
import { AgentStateStore } from '../../../agent/src/link/agent-state-store.ts';
import { enterEpoch } from '../../../agent/src/link/agent-state.ts';
import type { AgentState } from '../../../agent/src/link/agent-state.ts';
import { EventOutbox } from '../../../agent/src/link/event-outbox.ts';
import { isCountedInDigest } from '../../../agent/src/link/is-counted-in-digest.ts';
import { ManagedIndex } from '../../../agent/src/link/managed-index.ts';
import type { MemberApi } from '../../../agent/src/link/member-api.ts';
import { WelcomedSession } from '../../../agent/src/link/welcomed-session.ts';
import type { MachineMember } from './machine-member.ts';

export const AGENT_NAMESPACE = 'atoll-system';
/** Without approval; as the agent's chart sets it. */
export const MAX_DELETES = 3;

export interface AgentClock {
  nowMs(): number;
  monotonicMs(): number;
}

/** Frames this process sends; undefined when the connection is gone. */
type Send = (message: AgentMessage) => void;

export class MachineAgent {
  readonly instanceId = randomUUID();
  readonly #member: MachineMember;
  readonly #clock: AgentClock;
  readonly #state: AgentStateStore;
  readonly #index: ManagedIndex;
  readonly #closeIndex: () => void;
  readonly #api: MemberApi;
  readonly #died = Promise.withResolvers<void>();
  #killAfterRequests = Infinity;
  readonly #beforeDelete: ((name: string) => void)[] = [];
  #dead = false;
  #session: { readonly welcomed: WelcomedSession; readonly abort: AbortController } | undefined;
  #chain: Promise<void> = Promise.resolve();
  #count = 0;
  #helloDigest = '';
  /** Why the process itself ended the session; undefined while it did not. */
  failure: string | undefined;

  constructor(member: MachineMember, clock: AgentClock) {
    this.#member = member;
    this.#clock = clock;
    this.#api = createMemoryKube(member.store, (verb, request, name) => this.#request(verb, request, name));
    this.#state = new AgentStateStore(this.#api, AGENT_NAMESPACE);
    this.#index = new ManagedIndex(member.cache, clock);
    this.#closeIndex = this.#index.open();
  }

  get isDead(): boolean {
    return this.#dead;
  }

  get state(): AgentState {
    return this.#state.current;
  }

  /** The digest it would say now. */
  get digest(): string {
    return this.#index.digest(isCountedInDigest(this.#state.current, () => false));
  }

  load(): Promise<void> {
    return this.#state.load();
  }

  /** The lazy write of a raised revision comes due. */
  flush(): Promise<void> {
    return Promise.race([this.#state.flush(), this.#died.promise]);
  }

  /** kill -9 in the middle of its n-th request from now: half of them reach the server. */
  killAfter(requests: number): void {
    this.#killAfterRequests = requests;
  }

  /** Something happens between the agent's look at an object and its next delete. */
  beforeDelete(act: (name: string) => void): void {
    this.#beforeDelete.push(act);
  }

  kill(): void {
    if (this.#dead) return;
    this.#dead = true;
    this.leave();
    this.#closeIndex();
    this.#state.close();
    this.#died.resolve();
  }

  hello(agentId: string): Hello {
    const { hubEpoch, appliedRevision } = this.#state.current;
    this.#helloDigest = this.digest;
    return {
      protocolVersions: [1],
      agentId,
      agentVersion: '0.1.0',
      instanceId: this.instanceId,
      scope: { kind: 'CLUSTER' },
      fingerprint: 'model',
      ...(hubEpoch === undefined ? {} : { hubEpoch }),
      appliedRevision,
      specDigest: this.#helloDigest,
      crdSchemaHash: 'c'.repeat(64),
      capabilities: [],
      inventory: this.#member.synced ? 'SYNCED' : 'UNKNOWN',
      signature: '',
    };
  }

  /** The connection is gone. What is being written ends first, as in the real session. */
  leave(): void {
    this.#session?.abort.abort();
    this.#session?.welcomed.close();
    this.#session = undefined;
  }

  /** Resolves when the frame has been worked off, or when the process died over it. */
  async receive(frame: HubMessage, send: Send): Promise<void> {
    if (frame.type === 'Welcome') this.#welcome(frame.payload, send);
    else this.#enqueue((session) => work(session, frame));
    await this.settled();
  }

  async settled(): Promise<void> {
    for (let before; before !== this.#chain;) {
      before = this.#chain;
      await Promise.race([before, this.#died.promise]);
    }
  }

  #welcome(welcome: Welcome, send: Send): void {
    this.failure = undefined;
    this.#state.change((state) => enterEpoch(state, welcome.hubEpoch));
    const abort = new AbortController();
    const say = (type: AgentMessage['type'], payload: unknown, nonce?: string): void => {
      if (abort.signal.aborted) return;
      send({ type, payload, nonce: nonce ?? `a${(this.#count += 1)}` } as AgentMessage);
    };
    const welcomed = new WelcomedSession({
      welcome,
      helloDigest: this.#helloDigest,
      connection: { send: say } as never,
      store: this.#member.cache,
      events: new EventOutbox(),
      numbersOf: () => undefined,
      definitionChanged: () => false,
      desired: {
        api: this.#api,
        bounds: {
          scope: { kind: 'CLUSTER' },
          namespace: AGENT_NAMESPACE,
          limits: agentLimits({ maxDeletes: MAX_DELETES, maxDestructiveChanges: 1_000 }),
        },
        state: this.#state,
        index: this.#index,
        clock: this.#clock,
        log: () => undefined,
        random: () => 0,
        signal: abort.signal,
        sendAck: (ack, nonce) => say('DesiredAck', ack, nonce),
        alarm: () => undefined,
        sendInventory: (chunk) => say('InventoryChunk', chunk),
        maxFrameBytes: 1_000_000,
      },
    });
    this.#session = { welcomed, abort };
    welcomed.onStoreChange((task) => this.#enqueue(() => task()));
    this.#enqueue((session) => session.begin());
  }

  #enqueue(task: (session: WelcomedSession) => Promise<void> | void): void {
    const session = this.#session;
    this.#chain = this.#chain.then(async () => {
      if (this.#dead || session === undefined || session.abort.signal.aborted) return;
      try {
        await task(session.welcomed);
      } catch (error) {
        if (!session.abort.signal.aborted) this.failure = String(error);
      }
    });
  }

  async #request<T>(verb: string, request: () => T, name: string): Promise<T> {
    await Promise.resolve();
    if (verb === 'delete' && !this.#dead) this.#beforeDelete.splice(0).forEach((act) => act(name));
    const isLast = (this.#killAfterRequests -= 1) <= 0;
    if (this.#dead || (isLast && this.#count % 2 === 0)) return this.#never();
    const answer = request();
    return isLast ? this.#never() : answer;
  }

  #never<T>(): Promise<T> {
    this.kill();
    return new Promise<T>(() => undefined);
  }
}

async function work(session: WelcomedSession, { type, payload, nonce }: HubMessage): Promise<void> {
  if (type === 'Delta') await session.delta(payload, nonce);
  else if (type === 'SnapshotBegin') session.snapshotBegin(payload);
  else if (type === 'SnapshotChunk') await session.snapshotChunk(payload);
  else if (type === 'SnapshotEnd') await session.snapshotEnd(payload, nonce);
}
