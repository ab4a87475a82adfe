/**
 * One simulated agent: dials, signs, resumes, applies, acknowledges, reports and comes back, in the order and with the
 * pauses of the real one (apps/agent/src/link), whose reconnect rule it uses. Only the member cluster behind it is not
 * there: what is applied is applied at once. Kept small, since ten thousand of them share a process.
 */
import { randomUUID } from 'node:crypto';
import type { SecureContext } from 'node:tls';
import {
  AGENT_PATH,
  encodeFrame,
  helloSigningInput,
  MAX_FRAME_BYTES,
  parseHubFrame,
  PROTOCOL_VERSION,
  signInput,
  SUBPROTOCOL,
  type AgentMessage,
  type AgentPayloads,
  type HubMessage,
  type HubPayloads,
} from '#protocol';
import WebSocket from 'ws';
import { reconnectDelayMs } from '../../../apps/agent/src/link/reconnect-delay.ts';
import type { SessionEnd } from '../../../apps/agent/src/link/session-end.ts';
import { CLUSTERS_PER_AGENT, fingerprintOf, fleetId, privateKeyOf } from '../fleet-model.ts';
import type { BeatWheel } from './beat-wheel.ts';
import type { FleetTally } from './fleet-tally.ts';
import { monotonicMs } from './messages.ts';
import { SimulatedDesired } from './simulated-desired.ts';
import { SimulatedObjects } from './simulated-objects.ts';
import { SimulatedOutbox } from './simulated-outbox.ts';

/** As the real agent's: from dialling to an open WebSocket, and to Welcome; silence until a ping, and until it is over. */
const OPEN_TIMEOUT_MS = 5_000;
const HANDSHAKE_TIMEOUT_MS = 20_000;
const PING_AFTER_MS = 10_000;
const GONE_AFTER_MS = 20_000;

export interface SimulatorWorld {
  readonly hubAddress: string;
  /** Trusts the hub's CA and nobody else; shared, since parsing a CA ten thousand times is no part of the measurement. */
  readonly secureContext: SecureContext;
  readonly wheel: BeatWheel;
  readonly tally: FleetTally;
  readonly onApplied: (hubUid: string, hubGeneration: number) => void;
}

export class SimulatedAgent {
  readonly objects: SimulatedObjects;
  readonly #desired: SimulatedDesired;
  readonly #world: SimulatorWorld;
  readonly #number: number;
  readonly #agentId: string;
  readonly #instanceId = randomUUID();
  #hubEpoch: string | undefined;
  #socket: WebSocket | undefined;
  #outbox: SimulatedOutbox | undefined;
  #deadline: NodeJS.Timeout | undefined;
  #redial: NodeJS.Timeout | undefined;
  #leaveWheel: (() => void) | undefined;
  #leaveTimer: NodeJS.Timeout | undefined;
  #end: SessionEnd | undefined;
  #failure = '';
  #inSync = false;
  #heardAtMs = 0;
  #lastWelcomeAtMs = monotonicMs();
  #failures = 0;
  #nonce = 0;
  #stopped = false;
  #flooding = false;

  /** `hubEpoch` and `revision`: what it remembers of an earlier session. */
  constructor(number: number, world: SimulatorWorld, memory: { readonly hubEpoch: string; readonly revision: number }) {
    this.#number = number;
    this.#world = world;
    this.#agentId = fleetId('agent', number);
    this.#hubEpoch = memory.hubEpoch;
    this.objects = new SimulatedObjects(number);
    this.#desired = new SimulatedDesired({
      objects: this.objects,
      revision: memory.revision,
      sendAck: (ack, nonce) => this.#send('DesiredAck', ack, nonce),
      onApplied: world.onApplied,
      onWritten: (slot) => this.#outbox?.changed(slot, false),
    });
  }

  /** As an agent that has just lost its hub. */
  dialSoon(): void {
    this.#dialAfter(this.#delayMs({ kind: 'LOST', welcomed: true, reason: 'the bench begins' }));
  }

  dial(): void {
    if (this.#stopped) return;
    const { hubAddress, secureContext } = this.#world;
    // ws hands all of it on to tls.connect, which its types do not say.
    const options = {
      secureContext,
      rejectUnauthorized: true,
      handshakeTimeout: OPEN_TIMEOUT_MS,
      perMessageDeflate: false,
      maxPayload: MAX_FRAME_BYTES,
    };
    const socket = new WebSocket(`wss://${hubAddress}${AGENT_PATH}`, SUBPROTOCOL, options);
    this.#socket = socket;
    this.#heard();
    let open = false;
    socket.on('open', () => {
      open = true;
      this.#world.tally.opened();
    });
    socket.on('pong', () => this.#heard());
    socket.on('ping', () => this.#heard());
    socket.on('message', (data: Buffer) => this.#receive(data));
    socket.on('error', (error: Error & { code?: string }) => (this.#failure ||= error.code ?? error.message));
    socket.on('close', (code, reason) => this.#ended(open, `closed ${code} ${reason.toString()}`.trim()));
    this.#deadline = setTimeout(() => this.#close('no Welcome in time'), HANDSHAKE_TIMEOUT_MS);
  }

  /** Something happens to one of its objects. Its status is told as the outbox sees fit. */
  disturb(slot: number, isPhase: boolean): void {
    if (this.objects.disturb(slot, isPhase)) this.#outbox?.changed(slot, isPhase);
  }

  /** While it is on, everything changes and is told as fast as the hub acknowledges. */
  flood(on: boolean): void {
    if (this.#flooding === on) return;
    this.#flooding = on;
    if (on) this.#pourOut();
  }

  #pourOut(): void {
    if (!this.#flooding) return;
    for (let slot = 0; slot < CLUSTERS_PER_AGENT; slot += 1) this.objects.disturb(slot, slot === 0);
    this.#outbox?.tellAtOnce();
  }

  stop(): void {
    this.#stopped = true;
    clearTimeout(this.#redial);
    this.#socket?.terminate();
  }

  beat(): void {
    this.#send('Heartbeat', { inventory: 'SYNCED' });
  }

  look(): void {
    const silentMs = this.#world.wheel.clockMs - this.#heardAtMs;
    if (silentMs > GONE_AFTER_MS) this.#close('nothing heard from the hub');
    else if (silentMs > PING_AFTER_MS && this.#socket?.readyState === WebSocket.OPEN) this.#socket.ping();
  }

  #heard(): void {
    this.#heardAtMs = this.#world.wheel.clockMs;
  }

  #receive(data: Buffer): void {
    this.#heard();
    this.#world.tally.framesIn += 1;
    this.#world.tally.bytesIn += data.byteLength;
    const parsed = parseHubFrame(data);
    if (parsed.ok) this.#take(parsed.message);
    else if (parsed.error.code !== 'UNKNOWN_TYPE') this.#close(`a wrong frame: ${parsed.error.message}`);
  }

  #take(message: HubMessage): void {
    if (this.#desired.take(message)) return;
    const { type, payload } = message;
    const handler = this.#handlers[type] as ((payload: unknown) => void) | undefined;
    handler?.(payload);
  }

  readonly #handlers: { readonly [T in keyof HubPayloads]?: (payload: HubPayloads[T]) => void } = {
    Challenge: (challenge) => this.#hello(challenge),
    Welcome: (welcome) => this.#welcome(welcome),
    StatusAck: ({ counter, inSync }) => this.#outbox?.acknowledged(counter, inSync === true),
    StatusResync: () => this.#outbox?.resendAll(),
    Slow: ({ pauseMs }) => this.#outbox?.pause(pauseMs),
    Reconnect: ({ afterMs }) => this.#leave(afterMs),
    Drain: ({ afterMs }) => this.#leave(afterMs),
    Refused: ({ code, terminal }) => {
      if (terminal) this.#end = { kind: 'STUCK', code, welcomed: this.#outbox !== undefined, reason: code };
      this.#close(`refused ${code}`);
    },
  };

  #hello({ challenge, audience }: HubPayloads['Challenge']): void {
    if (audience !== this.#world.hubAddress) return this.#close(`the hub calls itself ${audience}`);
    const signed = helloSigningInput(challenge, audience, this.#agentId);
    this.#send('Hello', {
      protocolVersions: [PROTOCOL_VERSION],
      agentId: this.#agentId,
      agentVersion: '0.1.0',
      instanceId: this.#instanceId,
      scope: { kind: 'CLUSTER' },
      fingerprint: fingerprintOf(this.#number),
      ...(this.#hubEpoch === undefined ? {} : { hubEpoch: this.#hubEpoch }),
      appliedRevision: this.#desired.revision,
      specDigest: this.objects.specDigest,
      crdSchemaHash: '',
      capabilities: ['RedisCluster/v1alpha1'],
      inventory: 'SYNCED',
      signature: signInput(privateKeyOf(this.#number), signed),
    });
  }

  #welcome({ hubEpoch, mode, limits }: HubPayloads['Welcome']): void {
    clearTimeout(this.#deadline);
    const { tally, wheel } = this.#world;
    tally.wasWelcomed(mode);
    this.#hubEpoch = hubEpoch;
    this.#outbox = new SimulatedOutbox({
      objects: this.objects,
      window: limits.statusWindow,
      tally,
      send: (batch) => this.#send('StatusBatch', batch),
      onInSync: () => this.#becomeInSync(mode),
      onDrained: () => this.#pourOut(),
    });
    this.#leaveWheel = wheel.add(this);
    this.beat();
    if (mode === 'INVENTORY') this.#send('InventoryChunk', this.objects.inventory());
    this.#outbox.begin();
  }

  /** The hub has said that the specs are in step (DELTA, which it grants to equal digests only) and has all status. */
  #becomeInSync(mode: HubPayloads['Welcome']['mode']): void {
    if (this.#inSync || mode !== 'DELTA') return;
    this.#inSync = true;
    this.#world.tally.becameInSync();
  }

  #leave(afterMs: number): void {
    clearTimeout(this.#leaveTimer);
    this.#leaveTimer = setTimeout(() => {
      this.#end = { kind: 'ASKED', afterMs: 0, welcomed: true, reason: 'the hub asked' };
      this.#close('the hub asked to reconnect');
    }, afterMs);
  }

  #close(why: string): void {
    this.#failure ||= why;
    // This one and not its successor, which may be there in a second.
    const socket = this.#socket;
    socket?.close(1000);
    setTimeout(() => socket?.terminate(), 1_000).unref();
  }

  #ended(open: boolean, reason: string): void {
    clearTimeout(this.#deadline);
    clearTimeout(this.#leaveTimer);
    const welcomed = this.#outbox !== undefined;
    this.#world.tally.ended({ open, welcomed, inSync: this.#inSync, why: this.#failure || reason });
    this.#outbox?.close();
    this.#outbox = undefined;
    this.#leaveWheel?.();
    const end = this.#end ?? { kind: 'LOST', welcomed, reason: this.#failure };
    this.#end = undefined;
    this.#failure = '';
    this.#inSync = false;
    this.#dialAfter(this.#delayMs(end));
  }

  #delayMs(end: SessionEnd): number {
    const nowMs = monotonicMs();
    if (end.welcomed) this.#lastWelcomeAtMs = nowMs;
    this.#failures = end.welcomed ? 0 : this.#failures + 1;
    const outage = { failures: Math.max(0, this.#failures - 1), awayMs: nowMs - this.#lastWelcomeAtMs };
    return reconnectDelayMs(end, outage, Math.random());
  }

  #dialAfter(delayMs: number): void {
    if (!this.#stopped) this.#redial = setTimeout(() => this.dial(), delayMs);
  }

  #send<T extends keyof AgentPayloads>(type: T, payload: AgentPayloads[T], nonce?: string): void {
    if (this.#socket?.readyState !== WebSocket.OPEN) return;
    this.#nonce += 1;
    this.#socket.send(encodeFrame({ type, nonce: nonce ?? `a${this.#nonce}`, payload } as AgentMessage));
  }
}
