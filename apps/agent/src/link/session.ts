/**
 * One conversation with the hub, from the Challenge to the end of the connection. What changes the member cluster goes
 * through one promise chain, in the order of arrival; acknowledgements and requests about the connection itself are
 * taken at once, so that a slow API server never makes the agent deaf. Resolves with how it ended; never rejects.
 */
import { chooseDialect, TAKEN_OVER_CLOSE_CODE, versionsOf } from '#protocol';
import type { HubPayloads, KeyRotation, Welcome } from '#protocol';
import { Connection } from './connection.ts';
import type { SilenceLimits } from './connection.ts';
import { answerChallenge } from './handshake.ts';
import type { HandshakeParts } from './handshake.ts';
import type { Log } from './ports.ts';
import type { SessionEnd } from './session-end.ts';
import type { WelcomedSession } from './welcomed-session.ts';

/** From dialling to Welcome. Admission may queue agents after a restart of the hub. */
const HANDSHAKE_TIMEOUT_MS = 20_000;
/** Frames of at most 1 MiB that may wait for the member's API server. */
const MAX_WAITING_FRAMES = 16;

export interface SessionParts {
  readonly handshake: HandshakeParts;
  readonly cas: readonly string[];
  readonly silence: SilenceLimits | undefined;
  /** Code of the last terminal refusal. */
  readonly refusedCode: string | undefined;
  readonly log: Log;
  /** Stores the agent id. */
  readonly becomeEnrolled: (agentId: string) => Promise<void>;
  /** The hub takes signatures of this new key from now on. */
  readonly keyAccepted: (publicKey: string, send: (rotation: KeyRotation) => void) => void;
  readonly welcome: (welcome: Welcome, connection: Connection, signal: AbortSignal) => WelcomedSession;
}

type Handlers = { readonly [T in keyof HubPayloads]: (payload: HubPayloads[T], nonce: string) => void };

export class Session {
  readonly #parts: SessionParts;
  readonly #connection: Connection;
  readonly #handlers: Handlers;
  readonly #over = new AbortController();
  readonly ended: Promise<SessionEnd>;
  #chain: Promise<void> = Promise.resolve();
  #waiting = 0;
  #welcomed: WelcomedSession | undefined;
  #end: SessionEnd | undefined;
  readonly #deadline: NodeJS.Timeout;

  constructor(parts: SessionParts) {
    this.#parts = parts;
    this.#handlers = this.#createHandlers();
    const { promise, resolve } = Promise.withResolvers<SessionEnd>();
    this.ended = promise;
    this.#connection = new Connection(
      { hubAddress: parts.handshake.settings.hubAddress, cas: parts.cas, silence: parts.silence },
      {
        onFrame: (data) => this.#receive(data),
        onEnd: (reason, code) => {
          clearTimeout(this.#deadline);
          this.#over.abort();
          this.#welcomed?.close();
          const end = this.#endBy(code, reason);
          // The write that is on its way ends first: no two sessions work on the member cluster at once.
          void this.#chain.then(() => resolve(end));
        },
      },
    );
    this.#deadline = setTimeout(() => this.close('the hub did not finish the handshake in time'), HANDSHAKE_TIMEOUT_MS);
  }

  close(reason: string): void {
    this.#connection.close(reason);
  }

  /** What the hub had asked for counts no more once another process has the session: it was asked of a holder. */
  #endBy(code: number, reason: string): SessionEnd {
    const welcomed = this.#welcomed !== undefined;
    const isTakenOver = welcomed && code === TAKEN_OVER_CLOSE_CODE && this.#end?.kind !== 'STUCK';
    return isTakenOver ? { kind: 'TAKEN_OVER', welcomed, reason } : (this.#end ?? { kind: 'LOST', welcomed, reason });
  }

  /** The first reason counts. */
  #finish(end: SessionEnd): void {
    this.#end ??= end;
    this.#connection.close(end.reason);
  }

  #receive(data: Uint8Array): void {
    const parsed = this.#connection.dialect.parseHubFrame(data);
    if (parsed.ok) {
      const { type, payload, nonce } = parsed.message;
      (this.#handlers[type] as (payload: unknown, nonce: string) => void)(payload, nonce);
    } else if (parsed.error.code === 'UNKNOWN_TYPE') this.#parts.log('debug', parsed.error.message);
    else this.close(`a frame that this agent cannot read: ${parsed.error.message}`);
  }

  /** In order, one at a time; when much waits, nothing more is read. An error ends the session; what was not acked comes again in the next one. */
  #enqueue(work: () => Promise<void> | void): void {
    this.#waiting += 1;
    if (this.#waiting === MAX_WAITING_FRAMES) this.#connection.pause();
    this.#chain = this.#chain.then(async () => {
      try {
        if (!this.#over.signal.aborted) await work();
      } catch (error) {
        if (!this.#over.signal.aborted) this.close(error instanceof Error ? error.message : String(error));
      }
      this.#waiting -= 1;
      if (this.#waiting === MAX_WAITING_FRAMES / 2) this.#connection.resume();
    });
  }

  #inSession(work: (session: WelcomedSession) => Promise<void> | void): void {
    this.#enqueue(() => {
      if (this.#welcomed === undefined) throw new Error('the hub sent objects before Welcome');
      return work(this.#welcomed);
    });
  }

  /** Goes after so long; when the hub goes earlier, the next session waits for the rest of the time. */
  #leave(kind: 'ASKED' | 'PENDING', afterMs: number, reason: string): void {
    const dueAtMs = performance.now() + afterMs;
    const timer = setTimeout(() => this.close(reason), afterMs);
    this.#over.signal.addEventListener('abort', () => {
      clearTimeout(timer);
      const restMs = Math.max(0, dueAtMs - performance.now());
      this.#end ??= { kind, afterMs: restMs, welcomed: this.#welcomed !== undefined, reason };
    });
  }

  /** Within a session it is a request that was refused, unless it is terminal; the session itself the hub would close. */
  #refused({ code, message, terminal }: HubPayloads['Refused']): void {
    if (this.#welcomed !== undefined && !terminal) {
      this.#parts.log('warn', 'the hub refused a request of this agent', { code, message });
      return;
    }
    const about = { welcomed: this.#welcomed !== undefined, reason: `refused: ${code} ${message}` };
    this.#finish(terminal ? { kind: 'STUCK', code, ...about } : { kind: 'LOST', ...about });
  }

  #welcome(welcome: Welcome): void {
    clearTimeout(this.#deadline);
    if (this.#welcomed !== undefined) return;
    const dialect = chooseDialect(this.#parts.handshake.dialects, [welcome.protocolVersion]);
    if (dialect === undefined) return this.#upgradeRequired([welcome.protocolVersion], 'the hub chose it');
    this.#connection.dialect = dialect;
    this.#welcomed = this.#parts.welcome(welcome, this.#connection, this.#over.signal);
    this.#welcomed.onStoreChange((work) => this.#enqueue(work));
    this.#inSession((session) => session.begin());
  }

  /** Nothing here changes before one of the two is upgraded; what runs in this member cluster runs on meanwhile. */
  #upgradeRequired(theirs: readonly number[], why: string): void {
    const ours = versionsOf(this.#parts.handshake.dialects).join(' and ');
    const reason = `no protocol in common: the hub speaks ${theirs.join(' and ')}, this agent ${ours}; ${why}`;
    this.#finish({ kind: 'STUCK', code: 'UPGRADE_REQUIRED', welcomed: false, reason });
  }

  #createHandlers(): Handlers {
    return { ...this.#handshakeHandlers(), ...this.#objectHandlers(), ...this.#connectionHandlers() };
  }

  #handshakeHandlers(): Pick<
    Handlers,
    'Challenge' | 'Welcome' | 'EnrolPending' | 'Enrolled' | 'Refused' | 'UpgradeRequired' | 'KeyAccepted'
  > {
    return {
      Challenge: (challenge) =>
        this.#enqueue(async () => {
          const answer = await answerChallenge(this.#parts.handshake, challenge, this.#parts.refusedCode);
          if (answer.type === 'Hello') this.#connection.send('Hello', answer.payload);
          else this.#connection.send('Enrol', answer.payload);
        }),
      Welcome: (welcome) => this.#welcome(welcome),
      EnrolPending: ({ message, retryAfterMs }) => this.#pending(message, retryAfterMs),
      Enrolled: ({ agentId }) =>
        this.#enqueue(async () => {
          await this.#parts.becomeEnrolled(agentId);
          this.#finish({ kind: 'ENROLLED', welcomed: false, reason: 'enrolled' });
        }),
      Refused: (refused) => this.#refused(refused),
      UpgradeRequired: ({ message, supportedProtocolVersions }) =>
        this.#upgradeRequired(supportedProtocolVersions, `the hub says: ${message}`),
      KeyAccepted: ({ publicKey }) =>
        this.#parts.keyAccepted(publicKey, (rotation) => this.#connection.send('KeyRotation', rotation)),
    };
  }

  /** Stays connected, since the hub tells at once; asks again on a new connection, whose challenge is fresh. */
  #pending(message: string, retryAfterMs: number): void {
    clearTimeout(this.#deadline);
    this.#parts.log('info', 'the hub has not approved this agent yet', { message });
    this.#leave('PENDING', Math.max(1_000, retryAfterMs), message);
  }

  #objectHandlers(): Pick<Handlers, 'Delta' | 'SnapshotBegin' | 'SnapshotChunk' | 'SnapshotEnd'> {
    return {
      Delta: (delta, nonce) => this.#inSession((session) => session.delta(delta, nonce)),
      SnapshotBegin: (begin) => this.#inSession((session) => session.snapshotBegin(begin)),
      SnapshotChunk: (chunk) => this.#inSession((session) => session.snapshotChunk(chunk)),
      SnapshotEnd: (end, nonce) => this.#inSession((session) => session.snapshotEnd(end, nonce)),
    };
  }

  #connectionHandlers(): Pick<Handlers, 'StatusAck' | 'EventAck' | 'StatusResync' | 'Slow' | 'Reconnect' | 'Drain'> {
    return {
      StatusAck: ({ counter, inSync }) => this.#welcomed?.status.acknowledged(counter, inSync),
      EventAck: ({ counter }) => this.#welcomed?.events.acknowledged(counter),
      StatusResync: () => this.#welcomed?.status.resendAll(),
      Slow: ({ pauseMs }) => this.#welcomed?.slow(pauseMs),
      Reconnect: ({ afterMs }) => this.#leave('ASKED', afterMs, 'the hub asked to reconnect'),
      Drain: ({ afterMs }) => this.#leave('ASKED', afterMs, 'the hub drains'),
    };
  }
}
