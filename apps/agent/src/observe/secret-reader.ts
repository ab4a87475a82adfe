/**
 * Secrets are read by name, never listed or watched: RBAC cannot limit a watch by label, so watching would mean reading
 * every Secret of every namespace (04). What was read is kept for MAX_AGE_MS and dropped when the agent itself writes
 * it, or when a password is refused; so a Secret deleted by hand comes back within that age.
 */
import type { Clock, KubeObject, ObjectKey } from '#domain';
import { formatObjectKey } from '#domain';
import { RESOURCE } from '#kube';
import type { KubeClient } from '#kube';

export const SECRET_MAX_AGE_MS = 60_000;

/** A spec that names another Secret in each of its versions must not leave all of them here. */
const MOST_KEPT = 2_000;

export interface SecretContent {
  readonly object: KubeObject;
  /** Decoded values by key. Never logged, never put into a snapshot. */
  readonly values: Readonly<Record<string, string>>;
}

interface Entry {
  readonly content: SecretContent | undefined;
  readonly readAtMs: number;
}

const decode = (object: KubeObject): Record<string, string> => {
  const data = (object['data'] ?? {}) as Record<string, string>;
  return Object.fromEntries(
    Object.entries(data).map(([key, value]) => [key, Buffer.from(value, 'base64').toString('utf8')]),
  );
};

export class SecretReader {
  readonly #client: KubeClient;
  readonly #clock: Clock;
  readonly #entries = new Map<string, Entry>();

  constructor(client: KubeClient, clock: Clock) {
    this.#client = client;
    this.#clock = clock;
  }

  /** undefined: there is none. Rejects with a KubeError when the API server does not say. */
  async read(key: ObjectKey, maxAgeMs = SECRET_MAX_AGE_MS): Promise<SecretContent | undefined> {
    const id = formatObjectKey(key);
    const nowMs = this.#clock.monotonicMs();
    const known = this.#entries.get(id);
    if (known?.content !== undefined && nowMs - known.readAtMs < maxAgeMs) return known.content;
    const object = await this.#client.find(RESOURCE.secret, key);
    const content = object === undefined ? undefined : { object, values: decode(object) };
    this.#entries.set(id, { content, readAtMs: nowMs });
    if (this.#entries.size > MOST_KEPT) this.#dropOld(nowMs);
    return content;
  }

  #dropOld(nowMs: number): void {
    for (const [id, { readAtMs }] of this.#entries) {
      if (nowMs - readAtMs >= SECRET_MAX_AGE_MS) this.#entries.delete(id);
    }
    for (const [id] of this.#entries) {
      if (this.#entries.size <= MOST_KEPT) return;
      this.#entries.delete(id);
    }
  }

  /** The next read asks the API server. */
  forget(key: ObjectKey): void {
    this.#entries.delete(formatObjectKey(key));
  }
}
