/**
 * Looks after key and CAs while a session lives, which may be for months: now, and every ten minutes, what is due is begun and
 * what was not answered is asked again. One step at a time; a step that fails (the API server refuses the Secret) is
 * tried again at the next look and never ends the session, since the identity that is stored stays good.
 */
import type { X509Certificate } from 'node:crypto';
import type { Clock } from '#domain';
import type { KeyRotation } from '#protocol';
import type { AgentIdentity } from './agent-identity.ts';
import type { HubTrust } from './hub-trust.ts';
import type { Log } from './ports.ts';

const LOOK_EVERY_MS = 10 * 60_000;
/** A fleet that was told of a new CA at once does not come back at once. */
const TELL_WITHIN_MS = 60_000;

export interface KeeperParts {
  readonly identity: AgentIdentity;
  readonly trust: HubTrust;
  readonly clock: Clock;
  readonly log: Log;
  readonly random: () => number;
  /** Default ten minutes. */
  readonly lookEveryMs?: number | undefined;
}

/** A session that was welcomed. */
export interface KeptSession {
  readonly nextCa: string | undefined;
  readonly chain: readonly X509Certificate[];
  readonly send: (rotation: KeyRotation) => void;
  readonly close: (reason: string) => void;
  /** Ends with the session. */
  readonly signal: AbortSignal;
}

export class IdentityKeeper {
  readonly #parts: KeeperParts;
  #chain: Promise<void> = Promise.resolve();

  constructor(parts: KeeperParts) {
    this.#parts = parts;
  }

  tend(session: KeptSession): void {
    const look = (): void => this.#do(() => this.#look(session));
    this.#do(() => this.#parts.identity.confirmKey(this.#parts.clock.nowMs()));
    look();
    const timer = setInterval(look, this.#parts.lookEveryMs ?? LOOK_EVERY_MS);
    session.signal.addEventListener('abort', () => clearInterval(timer));
  }

  /** The hub takes this key from now on. */
  keyAccepted(publicKey: string, send: (rotation: KeyRotation) => void): void {
    this.#do(async () => {
      const firstUse = await this.#parts.identity.finishRotation(publicKey, this.#parts.clock.nowMs());
      if (firstUse === undefined) return;
      this.#parts.log('info', 'this agent has a new key; the hub lets go of the old one');
      send(firstUse);
    });
  }

  async #look(session: KeptSession): Promise<void> {
    const { identity, trust, clock, log } = this.#parts;
    if (session.signal.aborted) return;
    const isNew = await trust.settle(session.chain, session.nextCa, clock.nowMs());
    if (isNew) {
      log('info', 'this agent trusts another CA of its hub from now on, and comes back to say so');
      this.#comeBack(session);
    }
    const rotation = await identity.beginRotation(clock.nowMs());
    if (rotation !== undefined) session.send(rotation);
  }

  #comeBack({ close, signal }: KeptSession): void {
    const timer = setTimeout(() => close('to tell the hub which CAs it trusts'), this.#parts.random() * TELL_WITHIN_MS);
    signal.addEventListener('abort', () => clearTimeout(timer));
  }

  #do(step: () => Promise<void>): void {
    this.#chain = this.#chain.then(step).catch((error: unknown) => {
      this.#parts.log('warn', 'the identity of this agent could not be renewed; tried again in a while', {
        error: String(error),
      });
    });
  }
}
