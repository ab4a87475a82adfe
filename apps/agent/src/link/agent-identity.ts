/**
 * Who this agent is to the hub: the id the hub gave it and the key it signs with. A key is stored before the hub hears of it:
 * a token counts once, and a key lost between the two would lock the agent out. The private keys never leave the
 * Secret and this process.
 *
 * A key signs for a month. While a new one is on its way two are stored, and the one before is kept until the next
 * rotation: whichever answer, write or process is lost, and even when the hub's database is restored to a day before the
 * rotation, one of the stored keys is one that the hub takes. Which one, only the hub can say, so after a refused
 * signature the next of them is tried.
 */
import { generateKeyPair, keyRotationSigningInput, publicKeyOf, signInput, tokenHash } from '#protocol';
import type { KeyPair, KeyRotation } from '#protocol';
import { FIELD, type IdentitySecret } from './identity-secret.ts';

export interface Identity {
  readonly agentId: string;
  readonly key: KeyPair;
}

export const KEY_LIFETIME_MS = 30 * 24 * 3600_000;
/** Share of a lifetime by which agents differ, so that a fleet enrolled in one hour does not rotate in one. */
const LIFETIME_SPREAD = 0.1;

/** In the order in which they are tried. */
const ROLES = ['privateKey', 'nextKey', 'previousKey'] as const;
type Role = (typeof ROLES)[number];

const pairOf = (privateKeyPem: string): KeyPair => ({ privateKeyPem, publicKey: publicKeyOf(privateKeyPem) });

export class AgentIdentity {
  readonly #secret: IdentitySecret;
  readonly #lifetimeMs: number;
  #role: Role = 'privateKey';
  readonly #refused = new Set<Role>();

  /** `random`: from 0 to below 1. */
  constructor(secret: IdentitySecret, random: () => number) {
    this.#secret = secret;
    this.#lifetimeMs = KEY_LIFETIME_MS * (1 - LIFETIME_SPREAD * random());
  }

  /** Undefined until the hub has approved. */
  get enrolled(): Identity | undefined {
    const agentId = this.#secret.fields[FIELD.agentId];
    const privateKeyPem = this.#keyOf(this.#role) ?? this.#keyOf('privateKey');
    if (agentId === undefined || privateKeyPem === undefined) return undefined;
    return { agentId, key: pairOf(privateKeyPem) };
  }

  /** True when this token is not the one that made the present identity. */
  isFresh(token: string): boolean {
    return this.#secret.fields[FIELD.tokenHash] !== tokenHash(token);
  }

  /** The key to enrol with this token; the same one at each repetition, over restarts too. */
  async pendingKey(token: string): Promise<KeyPair> {
    const hash = tokenHash(token);
    const { [FIELD.pendingKey]: stored, [FIELD.pendingTokenHash]: storedHash } = this.#secret.fields;
    if (stored !== undefined && storedHash === hash) return pairOf(stored);
    const key = generateKeyPair();
    await this.#secret.store({ [FIELD.pendingKey]: key.privateKeyPem, [FIELD.pendingTokenHash]: hash });
    return key;
  }

  /**
   * The hub has taken the pending key under this id. `hubCa`: what the agent was given to verify the hub with; what it has
   * learnt since counts more.
   */
  async becomeEnrolled(agentId: string, hubCa: string | undefined, nowMs: number): Promise<void> {
    const { [FIELD.pendingKey]: privateKey, [FIELD.pendingTokenHash]: hash } = this.#secret.fields;
    if (privateKey === undefined || hash === undefined) throw new Error('enrolled without a pending key');
    await this.#secret.store({
      [FIELD.agentId]: agentId,
      [FIELD.privateKey]: privateKey,
      [FIELD.tokenHash]: hash,
      [FIELD.keyMadeAt]: new Date(nowMs).toISOString(),
      [FIELD.nextKey]: undefined,
      [FIELD.previousKey]: undefined,
      [FIELD.hubCa]: this.#secret.fields[FIELD.hubCa] ?? hubCa,
    });
    this.#signWith('privateKey');
  }

  /** After a refused signature: signs with the next stored key. False when all of them were refused. */
  tryAnotherKey(): boolean {
    this.#refused.add(this.#role);
    const next = ROLES.find((role) => !this.#refused.has(role) && this.#keyOf(role) !== undefined);
    if (next === undefined) this.#signWith('privateKey');
    else this.#role = next;
    return next !== undefined;
  }

  /** The hub has taken the signature of the present key. */
  async confirmKey(nowMs: number): Promise<void> {
    this.#refused.clear();
    const nextKey = this.#keyOf('nextKey');
    if (this.#role === 'nextKey' && nextKey !== undefined) await this.#advance(nextKey, nowMs);
  }

  /**
   * What to ask the hub for when the key is a month old, when an earlier answer was lost, or when the hub knows only the
   * key before this one. The new key is stored first; the old one signs until the hub has accepted.
   */
  async beginRotation(nowMs: number): Promise<KeyRotation | undefined> {
    const current = this.#keyOf('privateKey');
    if (this.#role === 'previousKey' && current !== undefined) return this.#ask(current);
    const stored = this.#keyOf('nextKey');
    if (this.enrolled === undefined || (stored === undefined && !this.#isDue(nowMs))) return undefined;
    const nextKey = stored ?? generateKeyPair().privateKeyPem;
    if (stored === undefined) await this.#secret.store({ [FIELD.nextKey]: nextKey });
    return this.#ask(nextKey);
  }

  /**
   * The hub takes this key from now on. Answers what to send so that it lets go of the one before: the new key, signed with
   * itself, is its first use. Undefined when nothing was asked for.
   */
  async finishRotation(publicKey: string, nowMs: number): Promise<KeyRotation | undefined> {
    const isFor = (role: Role): boolean => {
      const key = this.#keyOf(role);
      return key !== undefined && publicKeyOf(key) === publicKey;
    };
    if (isFor('nextKey')) await this.#advance(this.#keyOf('nextKey') ?? '', nowMs);
    else if (this.#role === 'previousKey' && isFor('privateKey')) this.#signWith('privateKey');
    else return undefined;
    return this.#ask(this.#keyOf('privateKey') ?? '');
  }

  #keyOf(role: Role): string | undefined {
    return this.#secret.fields[FIELD[role]];
  }

  #isDue(nowMs: number): boolean {
    const madeAtMs = Date.parse(this.#secret.fields[FIELD.keyMadeAt] ?? '');
    return !(nowMs - madeAtMs < this.#lifetimeMs);
  }

  #signWith(role: Role): void {
    this.#role = role;
    this.#refused.clear();
  }

  #ask(newKeyPem: string): KeyRotation | undefined {
    const identity = this.enrolled;
    if (identity === undefined) return undefined;
    const newPublicKey = publicKeyOf(newKeyPem);
    const input = keyRotationSigningInput(newPublicKey, identity.agentId);
    return { newPublicKey, signature: signInput(identity.key.privateKeyPem, input) };
  }

  async #advance(nextKey: string, nowMs: number): Promise<void> {
    await this.#secret.store({
      [FIELD.privateKey]: nextKey,
      [FIELD.previousKey]: this.#keyOf('privateKey'),
      [FIELD.nextKey]: undefined,
      [FIELD.keyMadeAt]: new Date(nowMs).toISOString(),
    });
    this.#signWith('privateKey');
  }
}
