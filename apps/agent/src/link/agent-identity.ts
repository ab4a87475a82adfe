/**
 * Who this agent is to the hub: its key, the id the hub gave it, the CA it trusts; kept in Secret atoll-agent-identity,
 * which the agent makes itself. A key is stored before the hub hears of it: a token counts once, and a key lost between
 * the two would lock the agent out. The private key never leaves this Secret and this process.
 */
import { AGENT_IDENTITY_SECRET, FIELD_MANAGER, LABEL } from '#domain';
import { KubeError, RESOURCE } from '#kube';
import { generateKeyPair, keyRotationSigningInput, publicKeyOf, signInput, tokenHash } from '#protocol';
import type { KeyPair, KeyRotation } from '#protocol';
import type { MemberApi } from './member-api.ts';

export interface Identity {
  readonly agentId: string;
  readonly key: KeyPair;
}

/** Field names are read by later releases: they stay. */
const FIELD = {
  agentId: 'agent-id',
  privateKey: 'private-key',
  tokenHash: 'enrolled-token-sha256',
  pendingKey: 'pending-private-key',
  pendingTokenHash: 'pending-token-sha256',
  hubCa: 'hub-ca.crt',
  nextHubCa: 'next-hub-ca.crt',
  keyMadeAt: 'key-made-at',
  nextKey: 'next-private-key',
} as const;
type Field = (typeof FIELD)[keyof typeof FIELD];
type Fields = Partial<Record<Field, string | undefined>>;

/** A key signs for a month (03, Identity and trust). */
const KEY_LIFETIME_MS = 30 * 24 * 3600_000;

export class AgentIdentity {
  readonly #api: MemberApi;
  readonly #namespace: string;
  #fields: Fields = {};
  #exists = false;

  constructor(api: MemberApi, namespace: string) {
    this.#api = api;
    this.#namespace = namespace;
  }

  /** Throws when the API server does not answer. */
  async load(): Promise<void> {
    const secret = await this.#api.find(RESOURCE.secret, { namespace: this.#namespace, name: AGENT_IDENTITY_SECRET });
    this.#exists = secret !== undefined;
    const data = (secret?.['data'] ?? {}) as Readonly<Record<string, string>>;
    this.#fields = Object.fromEntries(
      Object.values(FIELD).flatMap((field) => {
        const value = data[field];
        return value === undefined ? [] : [[field, Buffer.from(value, 'base64').toString('utf8')]];
      }),
    );
  }

  /** Undefined until the hub has approved. */
  get enrolled(): Identity | undefined {
    const agentId = this.#fields[FIELD.agentId];
    const privateKeyPem = this.#fields[FIELD.privateKey];
    if (agentId === undefined || privateKeyPem === undefined) return undefined;
    return { agentId, key: { privateKeyPem, publicKey: publicKeyOf(privateKeyPem) } };
  }

  /** Every CA that the hub may show, the newest last. */
  get trustedCas(): string[] {
    return [this.#fields[FIELD.hubCa], this.#fields[FIELD.nextHubCa]].filter((pem) => pem !== undefined);
  }

  /** True when this token is not the one that made the present identity. */
  isFresh(token: string): boolean {
    return this.#fields[FIELD.tokenHash] !== tokenHash(token);
  }

  /** The key to enrol with this token; the same one at each repetition, over restarts too. */
  async pendingKey(token: string): Promise<KeyPair> {
    const hash = tokenHash(token);
    const stored = this.#fields[FIELD.pendingKey];
    if (stored !== undefined && this.#fields[FIELD.pendingTokenHash] === hash) {
      return { privateKeyPem: stored, publicKey: publicKeyOf(stored) };
    }
    const key = generateKeyPair();
    await this.#store({ [FIELD.pendingKey]: key.privateKeyPem, [FIELD.pendingTokenHash]: hash });
    return key;
  }

  /** The hub has taken the pending key under this id. */
  async becomeEnrolled(agentId: string, hubCa: string | undefined, nowMs: number): Promise<void> {
    const privateKey = this.#fields[FIELD.pendingKey];
    const hash = this.#fields[FIELD.pendingTokenHash];
    if (privateKey === undefined || hash === undefined) throw new Error('enrolled without a pending key');
    await this.#store({
      [FIELD.agentId]: agentId,
      [FIELD.privateKey]: privateKey,
      [FIELD.tokenHash]: hash,
      [FIELD.keyMadeAt]: new Date(nowMs).toISOString(),
      ...(hubCa === undefined ? {} : { [FIELD.hubCa]: hubCa }),
    });
  }

  /**
   * What to ask the hub for when the key is a month old, or when an earlier answer was lost. The new key is stored first;
   * the old one signs until the hub has accepted, and the hub takes both until the new one was used.
   */
  async beginRotation(nowMs: number): Promise<KeyRotation | undefined> {
    const identity = this.enrolled;
    const madeAtMs = Date.parse(this.#fields[FIELD.keyMadeAt] ?? '');
    const stored = this.#fields[FIELD.nextKey];
    if (identity === undefined || (stored === undefined && nowMs - madeAtMs < KEY_LIFETIME_MS)) return undefined;
    const privateKeyPem = stored ?? generateKeyPair().privateKeyPem;
    if (stored === undefined) await this.#store({ [FIELD.nextKey]: privateKeyPem });
    const newPublicKey = publicKeyOf(privateKeyPem);
    const input = keyRotationSigningInput(newPublicKey, identity.agentId);
    return { newPublicKey, signature: signInput(identity.key.privateKeyPem, input) };
  }

  async finishRotation(publicKey: string, nowMs: number): Promise<void> {
    const nextKey = this.#fields[FIELD.nextKey];
    if (nextKey === undefined || publicKeyOf(nextKey) !== publicKey) return;
    const keyMadeAt = new Date(nowMs).toISOString();
    await this.#store({ [FIELD.privateKey]: nextKey, [FIELD.keyMadeAt]: keyMadeAt, [FIELD.nextKey]: undefined });
  }

  /** A CA that the hub will use later, told over the trusted session. */
  async trustNextCa(pem: string): Promise<void> {
    if (this.#fields[FIELD.nextHubCa] !== pem) await this.#store({ [FIELD.nextHubCa]: pem });
  }

  async #store(changes: Fields): Promise<void> {
    const fields: Fields = { ...this.#fields, ...changes };
    const encode = (value: string | undefined): string | null =>
      value === undefined ? null : Buffer.from(value, 'utf8').toString('base64');
    // Null takes a field away; what is not in `fields` must not stay in the Secret.
    const data = Object.fromEntries(Object.values(FIELD).map((field) => [field, encode(fields[field])]));
    const at = { namespace: this.#namespace, name: AGENT_IDENTITY_SECRET };
    if (this.#exists)
      await this.#api.patchMerge(RESOURCE.secret, at, { data }, { fieldManager: FIELD_MANAGER.operator });
    else await this.#create(Object.fromEntries(Object.entries(data).filter(([, value]) => value !== null)));
    this.#exists = true;
    this.#fields = fields;
  }

  /** A Secret that somebody else made meanwhile is not written over: its key may be known to the hub already. */
  async #create(data: Readonly<Record<string, string | null>>): Promise<void> {
    const metadata = {
      namespace: this.#namespace,
      name: AGENT_IDENTITY_SECRET,
      labels: { [LABEL.managedBy]: 'atoll', [LABEL.name]: 'atoll-agent' },
    };
    try {
      await this.#api.create(
        { apiVersion: 'v1', kind: 'Secret', type: 'Opaque', metadata, data },
        { fieldManager: FIELD_MANAGER.operator },
      );
    } catch (error) {
      if (error instanceof KubeError && error.isAlreadyExists()) await this.load();
      throw error;
    }
  }
}
