/**
 * Writes `status` by server-side apply, and only when it differs from what is known to be there. The uid in the request
 * is a precondition: an object deleted and made again in between is not given its predecessor's status. A definition of an
 * earlier release refuses a status whole for one field that it does not declare (measured: 500, one field an answer):
 * such fields are left out and tried again later, or no pass would succeed until somebody upgrades the definition.
 */
import { isDeepStrictEqual } from 'node:util';
import { FIELD_MANAGER } from '#domain';
import type { Clock, KubeObject } from '#domain';
import { isKubeError, valueAtPath, withoutPaths } from '#kube';
import type { KubeClient } from '#kube';

/** The part of the Lease's duration that is left when the fence closes: a late status could hide a newer one. */
const WRITE_WITHIN_MS = 5_000;
/** How long a field counts as not declared: a new definition is brought in the meantime, or not. */
const UNDECLARED_FOR_MS = 600_000;
const OLD_DEFINITION = 'a field of the status is not told: the definition lacks it; bring atoll-crds of this release';

interface Written<S> {
  readonly uid: string;
  /** All that was to be said. */
  readonly status: S;
  /** What the server made of it. */
  readonly stored: S | undefined;
  /** Version of the object that the status was merged from: until the cache moves on, it shows an older status. */
  readonly basedOn: string | undefined;
}

type WithStatus<S> = KubeObject & { readonly status?: S };

export interface StatusWriterSettings {
  readonly client: KubeClient;
  readonly clock: Clock;
  readonly warn?: (message: string, fields: Readonly<Record<string, unknown>>) => void;
}

/** Of one kind of object, whose status is an S. */
export class StatusWriter<S extends object> {
  readonly #settings: StatusWriterSettings;
  readonly #written = new Map<string, Written<S>>();
  #undeclared: readonly string[] = [];
  #undeclaredUntilMs = 0;

  constructor(settings: StatusWriterSettings) {
    this.#settings = settings;
  }

  /** The newest status known: our own last write of this object, else what the object carries. */
  lastOf(resource: WithStatus<S>): S | undefined {
    const written = this.#written.get(resource.metadata.uid ?? '');
    return written?.status ?? resource.status;
  }

  /** The object with what the server could not store of our last status, for as long as this process remembers. */
  complete<T extends WithStatus<S>>(resource: T): T {
    const written = this.#written.get(resource.metadata.uid ?? '');
    if (written === undefined || resource.status === undefined || this.#undeclared.length === 0) return resource;
    const known = Object.entries(written.status).filter(([name]) => this.#undeclared.includes(`status.${name}`));
    return { ...resource, status: { ...Object.fromEntries(known), ...resource.status } };
  }

  /** Writes when needed. Returns true when a request was sent. */
  async write(resource: WithStatus<S>, status: S): Promise<boolean> {
    if (this.#undeclared.length > 0 && this.#nowMs() > this.#undeclaredUntilMs) this.#forgetUndeclared();
    const uid = resource.metadata.uid ?? '';
    if (isDeepStrictEqual(this.#knownOf(resource), status)) return false;
    const { name, namespace } = resource.metadata;
    const answer = await this.#apply({
      apiVersion: resource.apiVersion,
      kind: resource.kind,
      metadata: { name, ...(namespace === undefined ? {} : { namespace }), uid },
      status,
    });
    this.#written.set(uid, { uid, status, stored: answer.status, basedOn: resource.metadata.resourceVersion });
    return true;
  }

  forget(uid: string): void {
    this.#written.delete(uid);
  }

  #nowMs(): number {
    return this.#settings.clock.monotonicMs();
  }

  /** What counts as being there: all of our last write, while the object shows what the server made of it. */
  #knownOf(resource: WithStatus<S>): S | undefined {
    const written = this.#written.get(resource.metadata.uid ?? '');
    if (written === undefined) return resource.status;
    const cacheIsOld = written.basedOn === resource.metadata.resourceVersion;
    return cacheIsOld || isDeepStrictEqual(written.stored, resource.status) ? written.status : resource.status;
  }

  /** Each refusal names one more field that goes, so this ends. */
  async #apply(whole: WithStatus<S>): Promise<WithStatus<S>> {
    const { client, warn } = this.#settings;
    const deadlineMs = this.#nowMs() + WRITE_WITHIN_MS;
    for (;;) {
      const body = withoutPaths(whole, this.#undeclared);
      const timeoutMs = Math.max(1, deadlineMs - this.#nowMs());
      try {
        return await client.applyStatus(body, { fieldManager: FIELD_MANAGER.operator, force: true, timeoutMs });
      } catch (error) {
        const field = isKubeError(error) ? error.undeclaredField : undefined;
        if (field === undefined || !field.startsWith('status.')) throw error;
        if (valueAtPath(body, field) === undefined) throw error;
        this.#undeclared = [...this.#undeclared, field];
        this.#undeclaredUntilMs = this.#nowMs() + UNDECLARED_FOR_MS;
        warn?.(OLD_DEFINITION, { kind: whole.kind, field });
      }
    }
  }

  /** All is said anew: by now the definition may take it. */
  #forgetUndeclared(): void {
    this.#undeclared = [];
    for (const [uid, written] of this.#written) {
      this.#written.set(uid, { ...written, stored: written.status, basedOn: undefined });
    }
  }
}
