/**
 * One socket from its first frame on: Challenge, then Enrol (as often as the agent likes) or Hello, then a session. Frames
 * are worked off one after the other. Before Welcome the peer is unknown: its frames are small or refused, and it may not
 * stay for long unless it waits for its approval.
 */
import {
  type AgentMessage,
  createChallenge,
  type Enrol,
  type FrameData,
  type Hello,
  MAX_FRAME_BYTES,
  MAX_HANDSHAKE_FRAME_BYTES,
  MAX_TOLERATED_FRAME_BYTES,
  type ParseError,
  versionsOf,
} from '#protocol';
import { HEARTBEAT_INTERVAL_MS } from '#domain';
import type { Logger } from 'pino';

import { type AgentPeer, CLOSE } from '../admission/agent-peer.ts';
import { AgentSession, STATUS_WINDOW } from './agent-session.ts';
import { DesiredSender } from '../desired/desired-sender.ts';
import type { HelloAnswer } from '../sessions/handshake.service.ts';
import { FramePace } from './frame-pace.ts';
import { FrameQueue } from './frame-queue.ts';
import { LargeFrameTurn } from './large-frame-turn.ts';
import type { LinkParts } from './link-parts.ts';
import { chooseResumeMode } from '../sessions/resume-mode.rules.ts';

const HANDSHAKE_TIMEOUT_MS = 30_000;
/** An agent waits 20 s for its Welcome; a later one would begin a session that it has left already. */
const HELLO_PATIENCE_MS = 15_000;
/** An agent may wait here for its approval; then it is told in the moment it is given. */
const APPROVAL_TIMEOUT_MS = 10 * 60_000;
/** An agent that sends what no hub can read comes back after so long: at once it would only send it again. */
const UNREADABLE_PAUSE_MS = 60_000;
/** Four heartbeats missed: the socket is dead, whatever TCP says. */
const SILENCE_TIMEOUT_MS = 4 * HEARTBEAT_INTERVAL_MS + 5_000;

export interface ConnectionParts {
  readonly peer: AgentPeer;
  readonly link: LinkParts;
  /** The public address that the peer dialled, which it must sign. */
  readonly audience: string;
  /**
   * The epoch of now. It may change while a Hello waits: of the epoch from before its connection, a session would begin after
   * those of that epoch were ended, and live on with revisions that mean something else.
   */
  readonly hubEpoch: () => string;
  /** PEM of the CA that the hub will use later. */
  readonly nextCa: string | undefined;
  /** The peer has proven that it is this agent, which waits for its approval. May come more than once. */
  readonly onPending: (agentId: string) => void;
  /** The peer is an approved agent, whose session begins. */
  readonly onKnown: () => void;
  readonly onSession: (session: AgentSession) => void;
  readonly log: Logger;
}

export class AgentConnection {
  readonly #parts: ConnectionParts;
  readonly #challenge = createChallenge();
  readonly #largeFrames: LargeFrameTurn;
  readonly #pace: FramePace;
  readonly #frames: FrameQueue;
  #session: AgentSession | undefined;
  #deadlineMs = 0;
  #deadlineReason = '';
  #log: Logger;
  /** Set while the agent waits for approval on this connection. */
  pendingAgentId: string | undefined;

  constructor(parts: ConnectionParts) {
    this.#parts = parts;
    this.#log = parts.log;
    this.#largeFrames = new LargeFrameTurn({
      monotonicMs: () => parts.link.clock.monotonicMs(),
      onWait: (pauseMs) => this.#holdLarge(pauseMs),
    });
    this.#pace = new FramePace(parts.link);
    this.#frames = new FrameQueue({
      peer: parts.peer,
      work: (data) => this.#work(data),
      onFailure: (error) => this.#fail(error),
    });
  }

  async open(): Promise<void> {
    this.#closeAfter(HANDSHAKE_TIMEOUT_MS, 'no Hello');
    await this.#parts.peer.send('Challenge', {
      challenge: this.#challenge,
      protocolVersions: versionsOf(this.#parts.link.dialects),
      audience: this.#parts.audience,
    });
  }

  receive(data: FrameData): void {
    this.#frames.add(data);
  }

  async close(): Promise<void> {
    this.#largeFrames.close();
    this.#pace.close();
    await this.#frames.idle;
    await this.#session?.close();
  }

  /** Somebody approved, or refused, the agent that waits here. */
  tellApproval(state: string | undefined): void {
    const agentId = this.pendingAgentId;
    if (agentId === undefined || state === 'PENDING_APPROVAL') return;
    this.pendingAgentId = undefined;
    if (state === 'ACTIVE') {
      this.#closeAfter(HANDSHAKE_TIMEOUT_MS, 'no Hello');
      void this.#parts.peer.send('Enrolled', { agentId, hubEpoch: this.#parts.hubEpoch() });
      return;
    }
    this.#refuse({ code: 'AGENT_REVOKED', message: 'the enrolment was refused', terminal: true });
  }

  /** The agent waits on another connection now. It costs memory, so an agent that nobody approved has one. */
  giveWay(): void {
    this.pendingAgentId = undefined;
    this.#parts.peer.close(CLOSE.takenOver, 'TAKEN_OVER');
  }

  async #work(data: FrameData): Promise<void> {
    // Before Welcome a large frame is refused unread.
    if (this.#session && this.#parts.peer.isOpen) {
      await this.#largeFrames.take(data);
      await this.#pace.takeBytes(data, this.#session.agentId);
    }
    if (!this.#parts.peer.isOpen) return;
    const maxBytes = this.#session ? MAX_TOLERATED_FRAME_BYTES : MAX_HANDSHAKE_FRAME_BYTES;
    const parsed = this.#parts.peer.dialect.parseAgentFrame(data, maxBytes);
    if (!parsed.ok) return this.#refuseFrame(parsed.error);
    if (!(await this.#waitForTurn(parsed.message))) return;
    if (!this.#session) return this.#shakeHands(parsed.message);
    this.#closeAfter(SILENCE_TIMEOUT_MS, 'silence');
    this.#parts.link.seen.note(this.#session.agentId);
    if (parsed.partlyRead) this.#session.tellUnreadable(parsed.message.type, parsed.partlyRead);
    await this.#session.handle(parsed.message);
  }

  async #waitForTurn(message: AgentMessage): Promise<boolean> {
    this.#parts.link.metrics.frames.inc({ type: message.type });
    await this.#pace.take(message, this.#session?.agentId);
    return this.#parts.peer.isOpen;
  }

  #holdLarge(pauseMs: number): void {
    this.#log.warn({ code: 'LARGE_FRAMES', pauseMs }, 'another frame above what is allowed waits');
    this.#closeAfter(SILENCE_TIMEOUT_MS + pauseMs, 'silence');
    if (this.#session) void this.#parts.peer.send('Slow', { pauseMs });
  }

  #shakeHands(message: AgentMessage): Promise<void> {
    if (message.type === 'Enrol') return this.#enrol(message.payload, message.nonce);
    if (message.type === 'Hello') return this.#hello(message.payload, message.nonce);
    this.#log.debug({ type: message.type }, 'a frame before Hello is ignored');
    return Promise.resolve();
  }

  async #enrol(enrol: Enrol, nonce: string): Promise<void> {
    const { link, peer, hubEpoch } = this.#parts;
    const answer = await link.turns.run(() => link.handshake.enrol(this.#offer(), enrol));
    switch (answer.kind) {
      case 'REFUSED':
        return this.#refuse(answer.refused, nonce);
      case 'ENROLLED':
        await peer.send('Enrolled', { agentId: answer.agentId, hubEpoch: hubEpoch() }, nonce);
        return;
      case 'PENDING':
        // Gone meanwhile: it must not take the place of the connection that came after it.
        if (!peer.isOpen) return;
        this.pendingAgentId = answer.agentId;
        this.#parts.onPending(answer.agentId);
        this.#closeAfter(APPROVAL_TIMEOUT_MS, 'not approved yet');
        this.#log.info({ agentId: answer.agentId }, 'an agent enrolled and waits for approval');
        await peer.send('EnrolPending', answer.pending, nonce);
        // It may have been approved between the commit and here.
        this.tellApproval(await link.enrolments.stateOf(answer.agentId));
    }
  }

  async #hello(hello: Hello, nonce: string): Promise<void> {
    const { link, peer } = this.#parts;
    const untilMs = link.clock.monotonicMs() + HELLO_PATIENCE_MS;
    const isWanted = (): boolean => peer.isOpen && link.clock.monotonicMs() < untilMs;
    const answer = await link.handshake.hello({ ...this.#offer(), isWanted }, hello);
    switch (answer.kind) {
      case 'REFUSED':
        return this.#refuse(answer.refused, nonce);
      case 'UPGRADE':
        await this.#parts.peer.send('UpgradeRequired', answer.upgrade, nonce);
        return this.#parts.peer.close(CLOSE.refused, 'UPGRADE_REQUIRED');
      case 'GONE':
        return peer.close(CLOSE.restart, 'TOO_LATE');
      case 'ACCEPTED':
        if (peer.isOpen) return this.#welcome(answer, hello, nonce);
        // Gone meanwhile, so its end has passed: a session that began now would stay among the living for ever.
        return link.sessions.disconnect({ ...answer, agentId: answer.agent.id }, link.clock.nowMs());
    }
  }

  async #welcome(answer: Extract<HelloAnswer, { kind: 'ACCEPTED' }>, hello: Hello, nonce: string): Promise<void> {
    const { link, peer, nextCa } = this.#parts;
    // From here to onSession nothing is awaited: whoever changes the epoch later finds this session, and ends it.
    const hubEpoch = this.#parts.hubEpoch();
    const { agent, sessionNo, head, dialect } = answer;
    const log = this.#parts.log.child({ agentId: agent.id, sessionNo });
    this.#log = log;
    const { mode, reason } = chooseResumeMode(head, hello, hubEpoch);
    log.info({ mode, reason, revision: head.revision, appliedRevision: hello.appliedRevision }, 'session begins');
    if (mode === 'INVENTORY') link.metrics.inventories.inc({ reason });
    const sender = new DesiredSender({
      agentId: agent.id,
      sessionNo,
      crdSchemaHash: hello.crdSchemaHash,
      peer,
      desired: link.desired,
      turns: link.turns,
      nowMs: () => link.clock.nowMs(),
      monotonicMs: () => link.clock.monotonicMs(),
      onSettled: (seconds) => link.metrics.deliverySeconds.observe(seconds),
      onFailure: (error) => this.#fail(error),
      onFenced: () => void this.#session?.endFenced().catch((error: unknown) => this.#fail(error)),
    });
    const session = new AgentSession({ agent, sessionNo, peer, sender, link, inventory: hello.inventory, log });
    this.#session = session;
    this.#closeAfter(SILENCE_TIMEOUT_MS, 'silence');
    this.#parts.onKnown();
    this.#parts.onSession(session);
    peer.dialect = dialect;
    await peer.send(
      'Welcome',
      {
        protocolVersion: dialect.version,
        sessionNo,
        hubEpoch,
        hubTime: new Date(link.clock.nowMs()).toISOString(),
        mode,
        limits: {
          statusWindow: STATUS_WINDOW,
          heartbeatIntervalMs: HEARTBEAT_INTERVAL_MS,
          maxFrameBytes: MAX_FRAME_BYTES,
        },
        ...(nextCa === undefined ? {} : { nextCa }),
      },
      nonce,
    );
    if (reason === 'AGENT_AHEAD') await this.#holdDeletes(agent.id, log);
    session.begin(mode, hello.appliedRevision, answer);
  }

  /** Its agent knows more of this hub than the hub: a restore that nobody noticed, so what was decided since is lost. */
  async #holdDeletes(agentId: string, log: Logger): Promise<void> {
    const { link } = this.#parts;
    const held = await link.turns.run(() => link.desired.holdAsRestored(agentId));
    if (held.length > 0) log.error({ held }, 'the agent is ahead of this hub: its pending deletes wait for a person');
  }

  #offer(): { challenge: string; audience: string } {
    return { challenge: this.#challenge, audience: this.#parts.audience };
  }

  #refuse(refused: { code: string; message: string; terminal: boolean }, nonce?: string): void {
    this.#parts.link.metrics.refusals.inc({ code: refused.code });
    this.#log.warn({ code: refused.code }, 'an agent was refused');
    void this.#parts.peer.send('Refused', refused, nonce);
    this.#parts.peer.close(CLOSE.refused, refused.code);
  }

  /** A type of a later protocol is skipped; what is no list of items and cannot be read ends the connection. */
  #refuseFrame(error: ParseError): void {
    if (error.code === 'UNKNOWN_TYPE') return;
    this.#log.warn({ code: error.code, path: error.path }, 'a frame could not be read');
    this.#session?.askBack(UNREADABLE_PAUSE_MS);
    this.#parts.peer.close(CLOSE.badFrame, error.code);
  }

  #fail(error: unknown): void {
    this.#log.error({ err: error }, 'the connection is closed after an error; the agent comes back');
    this.#session?.sender.stop();
    this.#parts.peer.close(CLOSE.restart, 'ERROR');
  }

  /** Called now and then, with the monotonic clock. */
  closeIfOverdue(nowMs: number): void {
    if (nowMs < this.#deadlineMs) return;
    this.#deadlineMs = Infinity;
    this.#parts.peer.close(CLOSE.refused, this.#deadlineReason);
  }

  #closeAfter(timeoutMs: number, reason: string): void {
    this.#deadlineMs = this.#parts.link.clock.monotonicMs() + timeoutMs;
    this.#deadlineReason = reason;
  }
}
