/**
 * A hub that speaks the real protocol over a real TLS WebSocket, checks every signature, and otherwise does only what the
 * test tells it to: the agent's half can be met with duplicates, reordering, stale generations, silence and restarts.
 */
import { createServer } from 'node:https';
import type { Server } from 'node:https';
import {
  AGENT_PATH,
  MAX_FRAME_BYTES,
  PROTOCOL_VERSION,
  SUBPROTOCOL,
  createChallenge,
  enrolSigningInput,
  helloSigningInput,
  keyRotationSigningInput,
  tokenHash,
  verifyInput,
} from '#protocol';
import type { AgentMessage, Enrol, Hello, KeyRotation, Refused, Welcome } from '#protocol';
import { WebSocketServer } from 'ws';
import { claimPort } from '../ports/claim-ports.ts';
import { createTestCertificates } from './create-test-certificates.ts';
import type { TestCertificates } from './create-test-certificates.ts';
import { FakeHubConnection } from './fake-hub-connection.ts';

export interface FakeSession {
  readonly connection: FakeHubConnection;
  readonly hello: Hello;
  readonly sessionNo: number;
}

export class FakeHub {
  hubEpoch = 'epoch-1';
  mode: Welcome['mode'] = 'DELTA';
  /** What an Enrol gets. */
  enrolment: 'APPROVE' | 'PEND' = 'APPROVE';
  /** When set, each Hello or Enrol gets this. */
  refusal: Refused | undefined;
  /** When set, named in the Challenge in place of the address that was dialled. */
  audience: string | undefined;
  limits: Welcome['limits'] = { statusWindow: 2, heartbeatIntervalMs: 15_000, maxFrameBytes: MAX_FRAME_BYTES };
  /** Sum of the hashes of the status that it has stored; undefined for a hub of before, which compares none. */
  statusDigest: string | undefined;
  /** Public keys by agent id. */
  readonly agents = new Map<string, string>();
  readonly connections: FakeHubConnection[] = [];
  readonly sessions: FakeSession[] = [];
  readonly enrols: Enrol[] = [];
  readonly certificates: TestCertificates;
  readonly #waiters: ((session: FakeSession) => void)[] = [];
  #server: Server | undefined;
  #port = 0;
  #takenSessions = 0;

  private constructor(certificates: TestCertificates) {
    this.certificates = certificates;
  }

  static async start(): Promise<FakeHub> {
    const hub = new FakeHub(await createTestCertificates());
    hub.#port = await claimPort();
    await hub.listen();
    return hub;
  }

  get port(): number {
    return this.#port;
  }
  get address(): string {
    return `127.0.0.1:${this.#port}`;
  }

  /** Listens (again), on the same port. */
  async listen(): Promise<void> {
    const { certificatePem, privateKeyPem } = this.certificates;
    const server = createServer({ cert: certificatePem, key: privateKeyPem });
    const sockets = new WebSocketServer({
      server,
      path: AGENT_PATH,
      perMessageDeflate: false,
      handleProtocols: (offered) => (offered.has(SUBPROTOCOL) ? SUBPROTOCOL : false),
    });
    sockets.on('connection', (socket, request) => {
      const challenge = createChallenge();
      const connection = new FakeHubConnection(socket, request.headers.host ?? '', (message) =>
        this.#answer(connection, challenge, message),
      );
      connection.knowsStatus = (digest) => digest === this.statusDigest;
      this.connections.push(connection);
      connection.send('Challenge', {
        challenge,
        protocolVersions: [PROTOCOL_VERSION],
        audience: this.audience ?? connection.host,
      });
    });
    await new Promise<void>((resolve) => server.listen(this.#port, '127.0.0.1', resolve));
    this.#server = server;
  }

  /** As kill -9: every connection is cut, nothing listens. */
  async kill(): Promise<void> {
    const server = this.#server;
    this.#server = undefined;
    if (server === undefined) return;
    for (const connection of this.connections) connection.terminate();
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }

  /** The next accepted session that no earlier call has taken. */
  async nextSession(timeoutMs = 12_000): Promise<FakeSession> {
    const index = this.#takenSessions;
    this.#takenSessions += 1;
    const ready = this.sessions[index];
    if (ready !== undefined) return ready;
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => reject(new Error(`no session came within ${timeoutMs} ms`)), timeoutMs);
      this.#waiters.push((session) => {
        clearTimeout(timer);
        resolve(session);
      });
    });
  }

  /** Gives every agent that waits on a connection its id. */
  approve(): void {
    this.enrolment = 'APPROVE';
    for (const connection of this.connections.filter((one) => !one.isClosed)) {
      const enrol = connection.received.findLast((message) => message.type === 'Enrol');
      if (enrol !== undefined) this.#enrolled(connection, enrol.payload);
    }
  }

  #answer(connection: FakeHubConnection, challenge: string, message: AgentMessage): void {
    if (message.type === 'Enrol') this.#enrol(connection, challenge, message.payload);
    if (message.type === 'Hello') this.#hello(connection, challenge, message.payload);
    if (message.type === 'KeyRotation') this.#rotateKey(connection, message.payload);
  }

  #rotateKey(connection: FakeHubConnection, { newPublicKey, signature }: KeyRotation): void {
    const session = this.sessions.find((one) => one.connection === connection);
    const agentId = session?.hello.agentId ?? '';
    const signed = verifyInput(
      this.agents.get(agentId) ?? '',
      keyRotationSigningInput(newPublicKey, agentId),
      signature,
    );
    if (!signed) return this.#refuse(connection, 'SIGNATURE_INVALID');
    this.agents.set(agentId, newPublicKey);
    connection.send('KeyAccepted', { publicKey: newPublicKey });
  }

  #enrol(connection: FakeHubConnection, challenge: string, enrol: Enrol): void {
    const { publicKey, fingerprint, signature } = enrol;
    const audience = this.audience ?? connection.host;
    const input = enrolSigningInput({ challenge, audience, tokenHash: tokenHash(enrol.token), publicKey, fingerprint });
    if (!verifyInput(publicKey, input, signature)) return this.#refuse(connection, 'SIGNATURE_INVALID');
    this.enrols.push(enrol);
    if (this.refusal !== undefined) connection.send('Refused', this.refusal);
    else if (this.enrolment === 'APPROVE') this.#enrolled(connection, enrol);
    else connection.send('EnrolPending', { message: 'somebody must approve', retryAfterMs: 30_000 });
  }

  #enrolled(connection: FakeHubConnection, enrol: Enrol): void {
    const agentId = `agent-${enrol.publicKey.slice(0, 8)}`;
    this.agents.set(agentId, enrol.publicKey);
    connection.send('Enrolled', { agentId, hubEpoch: this.hubEpoch });
  }

  #hello(connection: FakeHubConnection, challenge: string, hello: Hello): void {
    const publicKey = this.agents.get(hello.agentId);
    const audience = this.audience ?? connection.host;
    const input = helloSigningInput(challenge, audience, hello.agentId);
    if (this.refusal !== undefined) return void connection.send('Refused', this.refusal);
    if (publicKey === undefined) return this.#refuse(connection, 'AGENT_REVOKED');
    if (!verifyInput(publicKey, input, hello.signature)) return this.#refuse(connection, 'SIGNATURE_INVALID');
    const sessionNo = this.sessions.length + 1;
    connection.send('Welcome', {
      protocolVersion: PROTOCOL_VERSION,
      sessionNo,
      hubEpoch: this.hubEpoch,
      hubTime: new Date().toISOString(),
      mode: this.mode,
      limits: this.limits,
    });
    const session = { connection, hello, sessionNo };
    this.sessions.push(session);
    const waiter = this.#waiters.shift();
    waiter?.(session);
  }

  #refuse(connection: FakeHubConnection, code: string): void {
    connection.send('Refused', { code, message: code, terminal: true });
    connection.close();
  }
}
