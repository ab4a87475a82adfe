/**
 * Secret atoll-agent-identity: what this agent must keep to stay who it is, and whom it trusts. The agent makes the Secret
 * itself; what is in memory changes only after the API server has taken the write, so a crash or a refused write
 * leaves the last stored identity, never half a new one.
 */
import { AGENT_IDENTITY_SECRET, FIELD_MANAGER, LABEL } from '#domain';
import { KubeError, RESOURCE } from '#kube';
import type { MemberApi } from './member-api.ts';

/** Names are read by later releases: they stay. */
export const FIELD = {
  agentId: 'agent-id',
  privateKey: 'private-key',
  tokenHash: 'enrolled-token-sha256',
  pendingKey: 'pending-private-key',
  pendingTokenHash: 'pending-token-sha256',
  hubCa: 'hub-ca.crt',
  nextHubCa: 'next-hub-ca.crt',
  nextHubCaUsedAt: 'next-hub-ca-used-at',
  retiredHubCa: 'retired-hub-ca.crt',
  keyMadeAt: 'key-made-at',
  nextKey: 'next-private-key',
  previousKey: 'previous-private-key',
} as const;
type Field = (typeof FIELD)[keyof typeof FIELD];
export type Fields = Partial<Record<Field, string | undefined>>;

export class IdentitySecret {
  readonly #api: MemberApi;
  readonly #namespace: string;
  #fields: Fields = {};
  #exists = false;

  constructor(api: MemberApi, namespace: string) {
    this.#api = api;
    this.#namespace = namespace;
  }

  get fields(): Fields {
    return this.#fields;
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

  /** Undefined takes a field away. Throws when the write was not taken; then nothing has changed here either. */
  async store(changes: Fields): Promise<void> {
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
