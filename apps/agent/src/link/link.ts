/**
 * The agent's half of the link: dials out while it runs, resumes where it was, applies, acknowledges and reports. Only the
 * Lease holder runs it. An outage of the hub costs nothing here: what was applied stays, and every session begins
 * with what the agent knows.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { formatObjectKey, parseObjectKey } from '#domain';
import type { ObjectKey } from '#domain';
import { AgentIdentity } from './agent-identity.ts';
import { AgentStateStore } from './agent-state-store.ts';
import { becomeNewAgent, enterEpoch } from './agent-state.ts';
import { MemberApiDownError } from './classify-kube-error.ts';
import type { Connection } from './connection.ts';
import type { AlarmReason } from './desired-parts.ts';
import { EventOutbox } from './event-outbox.ts';
import { shouldEnrol } from './handshake.ts';
import type { HelloState } from './handshake.ts';
import { HubTrust } from './hub-trust.ts';
import { IdentityKeeper } from './identity-keeper.ts';
import { IdentitySecret } from './identity-secret.ts';
import { isCountedInDigest } from './is-counted-in-digest.ts';
import { ManagedIndex } from './managed-index.ts';
import { createMemberApi } from './member-api.ts';
import type { MemberApi } from './member-api.ts';
import type { LinkParts, LinkSettings, LinkState } from './ports.ts';
import { readFingerprint } from './read-fingerprint.ts';
import { reconnectDelayMs } from './reconnect-delay.ts';
import type { SessionEnd } from './session-end.ts';
import { Session } from './session.ts';
import { untilHolder } from './until-holder.ts';
import { untilAnswered } from './until-answered.ts';
import { WelcomedSession } from './welcomed-session.ts';
import { EMPTY_DIGEST, MAX_FRAME_BYTES, SPOKEN_DIALECTS } from '#protocol';
import type { Welcome } from '#protocol';

/** Objects that one alarm names, in the log and by an Event each. */
const MOST_NAMES = 50;
/** Pause before another key, or a new enrolment, in place of an identity that the hub refuses. */
const OTHER_IDENTITY_MS = 1_000;

export class Link {
  readonly #settings: LinkSettings;
  readonly #parts: LinkParts;
  readonly #random: () => number;
  readonly #api: MemberApi;
  readonly #secret: IdentitySecret;
  readonly #identity: AgentIdentity;
  readonly #trust: HubTrust;
  readonly #keeper: IdentityKeeper;
  readonly #state: AgentStateStore;
  readonly #index: ManagedIndex;
  readonly #events = new EventOutbox();
  #running: { readonly abort: AbortController; readonly done: Promise<void> } | undefined;
  #session: Session | undefined;
  #welcomed: { readonly welcome: Welcome; readonly session: WelcomedSession } | undefined;
  #helloDigest = EMPTY_DIGEST;
  #lastWelcomeAtMs: number | undefined;
  #toldSchemaHash = '';
  #lastFailure: string | undefined;
  #refusedDeletes = 0;

  constructor(settings: LinkSettings, parts: LinkParts) {
    this.#settings = settings;
    this.#parts = parts;
    this.#random = parts.random ?? Math.random;
    this.#api = createMemberApi(parts.client, parts.fence);
    this.#secret = new IdentitySecret(this.#api, settings.namespace);
    this.#identity = new AgentIdentity(this.#secret, this.#random);
    this.#trust = new HubTrust(this.#secret, settings.hubCa);
    const { clock, log, lookAtIdentityEveryMs: lookEveryMs } = parts;
    const kept = { identity: this.#identity, trust: this.#trust, clock, log, random: this.#random, lookEveryMs };
    this.#keeper = new IdentityKeeper(kept);
    this.#state = new AgentStateStore(this.#api, settings.namespace);
    this.#index = new ManagedIndex(parts.store, parts.clock);
  }

  /** Call when the Lease is held. A second call while it runs does nothing. */
  start(): void {
    if (this.#running !== undefined) return;
    const abort = new AbortController();
    const closeIndex = this.#index.open();
    const forgetEvents = this.#parts.events.onEvent((event) => this.#events.add(event));
    abort.signal.addEventListener('abort', () => {
      closeIndex();
      forgetEvents();
    });
    this.#running = {
      abort,
      done: this.#run(abort.signal).catch((error: unknown) => this.#failed(abort.signal, error)),
    };
  }

  /** Call when the Lease is lost, and at the end. Resolves when nothing of it runs any more. */
  async stop(): Promise<void> {
    const running = this.#running;
    if (running === undefined) return;
    this.#running = undefined;
    running.abort.abort();
    this.#session?.close('this agent stops');
    await running.done;
    this.#state.close();
    // A lost lease forbids it; then the next holder starts from a revision that is a little older.
    await this.#state.flush().catch(() => undefined);
  }

  state(): LinkState {
    const welcomed = this.#welcomed;
    const { hubEpoch, appliedRevision } = this.#state.current;
    return {
      running: this.#running !== undefined,
      enrolled: this.#identity.enrolled !== undefined,
      connected: welcomed !== undefined,
      appliedRevision,
      waitingObjects: welcomed?.session.waitingObjects ?? 0,
      unclaimedObjects: this.#state.current.unclaimed.size,
      refusedDeletes: this.#refusedDeletes,
      heldChanges: this.#countHeldChanges(),
      outbox: { status: welcomed?.session.status.size ?? 0, events: this.#events.size },
      ...(welcomed === undefined ? {} : { sessionNo: welcomed.welcome.sessionNo }),
      ...(this.#lastWelcomeAtMs === undefined ? {} : { lastWelcomeAtMs: this.#lastWelcomeAtMs }),
      ...(hubEpoch === undefined ? {} : { hubEpoch }),
      ...(this.#lastFailure === undefined ? {} : { lastFailure: this.#lastFailure }),
    };
  }

  /** Without those of objects that are gone. */
  #countHeldChanges(): number {
    return [...this.#state.current.heldChanges].filter(
      ([uid, { key }]) => this.#index.get(parseObjectKey(key))?.metadata.uid === uid,
    ).length;
  }

  #failed(signal: AbortSignal, error: unknown): void {
    if (!signal.aborted) this.#parts.log('error', 'the link ended by a fault of its own', { error: String(error) });
  }

  async #run(signal: AbortSignal): Promise<void> {
    const { clock, log } = this.#parts;
    const fingerprint = await untilAnswered(() => this.#prepare(), { signal, clock, log, random: this.#random });
    let heardAtMs = clock.monotonicMs();
    let failures = 0;
    let refusedCode: string | undefined;
    while (!signal.aborted) {
      const end = await this.#runSession(fingerprint, refusedCode).catch((error: unknown): SessionEnd => ({
        kind: 'LOST',
        welcomed: false,
        reason: String(error),
      }));
      if (signal.aborted) return;
      if (end.welcomed) heardAtMs = clock.monotonicMs();
      failures = end.welcomed ? 0 : failures + 1;
      refusedCode = end.kind === 'STUCK' ? end.code : end.welcomed || end.kind === 'ENROLLED' ? undefined : refusedCode;
      const outage = { failures: Math.max(0, failures - 1), awayMs: clock.monotonicMs() - heardAtMs };
      const waitMs =
        end.kind === 'STUCK' && this.#hasOtherIdentity(end.code)
          ? OTHER_IDENTITY_MS
          : reconnectDelayMs(end, outage, this.#random());
      this.#tellEnd(end, waitMs);
      await this.#rest(end, waitMs, signal);
    }
  }

  async #rest(end: SessionEnd, waitMs: number, signal: AbortSignal): Promise<void> {
    await sleep(waitMs, undefined, { signal }).catch(() => undefined);
    if (end.kind === 'TAKEN_OVER') await untilHolder(this.#parts, signal);
  }

  /** The hub has dropped this identity, and a person has given a token since; or it knows another key of this agent. */
  #hasOtherIdentity(refusedCode: string): boolean {
    const { enrolmentToken } = this.#settings;
    if (this.#identity.enrolled === undefined) return false;
    if (shouldEnrol(this.#identity, enrolmentToken, refusedCode)) return true;
    return refusedCode === 'SIGNATURE_INVALID' && this.#identity.tryAnotherKey();
  }

  #tellEnd(end: SessionEnd, waitMs: number): void {
    this.#lastFailure = end.kind === 'ENROLLED' ? undefined : end.reason;
    const level = end.kind === 'STUCK' ? 'error' : end.kind === 'LOST' ? 'warn' : 'info';
    this.#parts.log(level, 'the session with the hub ended', { reason: end.reason, redialInMs: Math.round(waitMs) });
  }

  /** Whatever the last holder left; from here on no session needs the API server to begin. */
  async #prepare(): Promise<string> {
    try {
      await this.#secret.load();
      await this.#state.load();
      return await readFingerprint(this.#api, this.#settings.scope, this.#settings.namespace);
    } catch (error) {
      this.#lastFailure = error instanceof Error ? error.message : String(error);
      throw new MemberApiDownError(this.#lastFailure, { cause: error });
    }
  }

  async #runSession(fingerprint: string, refusedCode: string | undefined): Promise<SessionEnd> {
    const session = new Session({
      handshake: {
        settings: this.#settings,
        identity: this.#identity,
        fingerprint,
        dialects: this.#parts.dialects ?? SPOKEN_DIALECTS,
        hubCas: this.#trust.capabilities,
        helloState: () => this.#helloState(),
      },
      cas: this.#trust.verifiers,
      silence: this.#parts.silence,
      refusedCode,
      log: this.#parts.log,
      becomeEnrolled: (agentId) => this.#becomeEnrolled(agentId),
      keyAccepted: (publicKey, send) => this.#keeper.keyAccepted(publicKey, send),
      welcome: (welcome, connection, signal) => this.#welcome(welcome, connection, signal),
    });
    this.#session = session;
    if (this.#running === undefined) session.close('this agent stops');
    const end = await session.ended;
    this.#session = undefined;
    this.#welcomed = undefined;
    return end;
  }

  #helloState(): HelloState {
    const state = this.#state.current;
    this.#helloDigest = this.#index.digest(isCountedInDigest(state, () => false));
    this.#toldSchemaHash = this.#parts.crdSchemaHash();
    return {
      ...(state.hubEpoch === undefined ? {} : { hubEpoch: state.hubEpoch }),
      appliedRevision: state.appliedRevision,
      specDigest: this.#helloDigest,
      crdSchemaHash: this.#toldSchemaHash,
      inventory: this.#parts.store.isSynced() ? 'SYNCED' : 'UNKNOWN',
    };
  }

  async #becomeEnrolled(agentId: string): Promise<void> {
    const isNew = this.#identity.enrolled?.agentId !== agentId;
    if (isNew) await this.#state.changeDurably(becomeNewAgent);
    await this.#identity.becomeEnrolled(agentId, this.#settings.hubCa, this.#parts.clock.nowMs());
    this.#parts.log('info', 'the hub enrolled this agent', { agentId });
  }

  #alarm(reason: AlarmReason, message: string, objects: readonly ObjectKey[]): void {
    if (reason === 'DeletesRefused') this.#refusedDeletes += objects.length;
    const names = objects.slice(0, MOST_NAMES).map(formatObjectKey);
    this.#parts.log('error', message, { reason, count: objects.length, objects: names });
    for (const key of objects.slice(0, MOST_NAMES)) this.#parts.warn?.(key, reason, message);
  }

  #welcome(welcome: Welcome, connection: Connection, signal: AbortSignal): WelcomedSession {
    const { clock, log, store, numbersOf, guests } = this.#parts;
    const { scope, namespace, limits } = this.#settings;
    this.#state.change((state) => enterEpoch(state, welcome.hubEpoch));
    const session = new WelcomedSession({
      welcome,
      helloDigest: this.#helloDigest,
      connection,
      store,
      numbersOf,
      ...(guests === undefined ? {} : { guests }),
      definitionChanged: () => {
        const hash = this.#parts.crdSchemaHash();
        return hash !== '' && hash !== this.#toldSchemaHash;
      },
      events: this.#events,
      desired: {
        api: this.#api,
        bounds: { scope, namespace, limits },
        state: this.#state,
        index: this.#index,
        clock,
        log,
        random: this.#random,
        signal,
        sendAck: (ack, nonce) => connection.send('DesiredAck', ack, nonce),
        alarm: (reason, message, objects) => this.#alarm(reason, message, objects),
        sendInventory: (chunk) => connection.send('InventoryChunk', chunk),
        maxFrameBytes: Math.min(welcome.limits.maxFrameBytes, MAX_FRAME_BYTES),
      },
    });
    this.#welcomed = { welcome, session };
    this.#lastWelcomeAtMs = clock.nowMs();
    this.#lastFailure = undefined;
    this.#keeper.tend({
      nextCa: welcome.nextCa,
      chain: connection.peerChain,
      send: (rotation) => connection.send('KeyRotation', rotation),
      close: (reason) => connection.close(reason),
      signal,
    });
    log('info', 'the hub welcomed this agent', { sessionNo: welcome.sessionNo, mode: welcome.mode });
    return session;
  }
}
