/**
 * An agent of medium tests: speaks the real protocol over a real WebSocket, holds its objects in memory, and does only
 * what the test tells it to.
 */
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { WebSocket } from 'ws';

import type { Scope } from '#domain';
import {
  AGENT_PATH,
  type AgentPayloads,
  EMPTY_DIGEST,
  encodeFrame,
  enrolSigningInput,
  generateKeyPair,
  type Hello,
  helloSigningInput,
  type HubMessage,
  type HubPayloads,
  type KeyPair,
  MAX_FRAME_BYTES,
  parseHubFrame,
  signInput,
  SUBPROTOCOL,
  tokenHash,
} from '#protocol';
import type { TestHub } from './start-test-hub.ts';
import { WAIT } from './wait.ts';

export interface TestIdentity {
  readonly keys: KeyPair;
  readonly fingerprint: string;
  readonly scope: Scope;
  readonly instanceId: string;
  readonly agentId?: string;
}

export const createIdentity = (fingerprint = `kubeSystemUid:${randomUUID()}`): TestIdentity => ({
  keys: generateKeyPair(),
  fingerprint,
  scope: { kind: 'CLUSTER' },
  instanceId: randomUUID(),
});

export class TestAgent {
  readonly identity: TestIdentity;
  readonly #socket: WebSocket;
  readonly #received: HubMessage[] = [];
  #count = 0;
  closeCode: number | undefined;
  /** As it came. */
  get challenge(): HubPayloads['Challenge'] | undefined {
    return this.#challenge;
  }
  #challenge: HubPayloads['Challenge'] | undefined;

  private constructor(socket: WebSocket, identity: TestIdentity) {
    this.#socket = socket;
    this.identity = identity;
    socket.on('message', (data: Buffer) => {
      const parsed = parseHubFrame(data);
      if (!parsed.ok) throw new Error(`the hub sent a wrong frame: ${parsed.error.message}`);
      this.#received.push(parsed.message);
    });
    socket.on('close', (code) => (this.closeCode = code));
    socket.on('error', () => undefined);
  }

  /** Opens the socket and waits for the Challenge. `localAddress`: of this machine, to dial from. */
  static async connect(
    hub: TestHub,
    identity: TestIdentity,
    { localAddress, patienceMs }: { readonly localAddress?: string; readonly patienceMs?: number } = {},
  ): Promise<TestAgent> {
    const socket = new WebSocket(`wss://${hub.ready.agentAddress}${AGENT_PATH}`, SUBPROTOCOL, {
      ca: hub.runtime.tls.caCertificate,
      // As the real one: a larger frame ends the connection.
      maxPayload: MAX_FRAME_BYTES,
      ...(localAddress === undefined ? {} : { localAddress }),
    });
    const agent = new TestAgent(socket, identity);
    agent.#challenge = await agent.next('Challenge', patienceMs);
    return agent;
  }

  send<T extends keyof AgentPayloads>(type: T, payload: AgentPayloads[T]): void {
    this.#count += 1;
    this.#socket.send(encodeFrame({ type, nonce: `a${this.#count}`, payload } as never));
  }

  /** The next message of this type; those of other types before it stay. Throws after the time-out. */
  async next<T extends keyof HubPayloads>(type: T, timeoutMs = WAIT.timeout): Promise<HubPayloads[T]> {
    for (const end = Date.now() + timeoutMs; ; await sleep(5)) {
      const at = this.#received.findIndex((message) => message.type === type);
      if (at >= 0) return this.#received.splice(at, 1)[0]?.payload as HubPayloads[T];
      if (Date.now() > end) {
        const seen = this.#received.map((message) => message.type).join(', ');
        throw new Error(`no ${type} within ${timeoutMs} ms; there is [${seen}], closed: ${this.closeCode}`);
      }
    }
  }

  /** Messages of this type that have come and were not taken. */
  pending(type: keyof HubPayloads): number {
    return this.#received.filter((message) => message.type === type).length;
  }

  enrol(token: string, overrides: Partial<AgentPayloads['Enrol']> = {}): void {
    const { keys, fingerprint, scope, instanceId } = this.identity;
    const { challenge = '', audience = '' } = this.#challenge ?? {};
    const proof = { challenge, audience, tokenHash: tokenHash(token), publicKey: keys.publicKey, fingerprint };
    this.send('Enrol', {
      token,
      publicKey: keys.publicKey,
      fingerprint,
      scope,
      agentVersion: '0.1.0',
      instanceId,
      signature: signInput(keys.privateKeyPem, enrolSigningInput(proof)),
      ...overrides,
    });
  }

  hello(overrides: Partial<Hello> = {}): void {
    const { keys, fingerprint, scope, instanceId, agentId = '' } = this.identity;
    const { challenge = '', audience = '' } = this.#challenge ?? {};
    this.send('Hello', {
      protocolVersions: [1],
      agentId,
      agentVersion: '0.1.0',
      instanceId,
      scope,
      fingerprint,
      appliedRevision: 0,
      specDigest: EMPTY_DIGEST,
      crdSchemaHash: 'crd',
      capabilities: [],
      inventory: 'SYNCED',
      signature: signInput(keys.privateKeyPem, helloSigningInput(challenge, audience, agentId)),
      ...overrides,
    });
  }

  async waitForClose(timeoutMs = WAIT.timeout): Promise<number> {
    for (const end = Date.now() + timeoutMs; Date.now() < end; await sleep(5)) {
      if (this.closeCode !== undefined) return this.closeCode;
    }
    throw new Error('the socket stays open');
  }

  close(): void {
    this.#socket.close();
  }

  /** Without a close frame, as a lost network does it. */
  cut(): void {
    this.#socket.terminate();
  }
}
