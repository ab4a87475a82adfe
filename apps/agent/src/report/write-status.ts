/**
 * Writes `status` by server-side apply, and only when it differs from what is known to be there. The uid in the request
 * is a precondition: an object deleted and made again in between is not given its predecessor's status.
 */
import { isDeepStrictEqual } from 'node:util';
import { FIELD_MANAGER } from '#domain';
import type { KubeObject } from '#domain';
import type { KubeClient } from '#kube';

/** The part of the Lease's duration that is left when the fence closes: a late status could hide a newer one. */
const WRITE_WITHIN_MS = 5_000;

interface Written<S> {
  readonly uid: string;
  readonly status: S;
  /** Version of the object that the status was merged from: until the cache moves on, it shows an older status. */
  readonly basedOn: string | undefined;
}

type WithStatus<S> = KubeObject & { readonly status?: S };

/** Of one kind of object, whose status is an S. */
export class StatusWriter<S> {
  readonly #client: KubeClient;
  readonly #written = new Map<string, Written<S>>();

  constructor(client: KubeClient) {
    this.#client = client;
  }

  /** The newest status known: our own last write of this object, else what the object carries. */
  lastOf(resource: WithStatus<S>): S | undefined {
    const written = this.#written.get(resource.metadata.uid ?? '');
    return written?.status ?? resource.status;
  }

  /** Writes when needed. Returns true when a request was sent. */
  async write(resource: WithStatus<S>, status: S): Promise<boolean> {
    const uid = resource.metadata.uid ?? '';
    const written = this.#written.get(uid);
    const cacheIsOld = written !== undefined && written.basedOn === resource.metadata.resourceVersion;
    const known = cacheIsOld ? written.status : resource.status;
    if (known !== undefined && isDeepStrictEqual(known, status)) return false;
    const { name, namespace } = resource.metadata;
    await this.#client.applyStatus(
      {
        apiVersion: resource.apiVersion,
        kind: resource.kind,
        metadata: { name, ...(namespace === undefined ? {} : { namespace }), uid },
        status,
      },
      { fieldManager: FIELD_MANAGER.operator, force: true, timeoutMs: WRITE_WITHIN_MS },
    );
    this.#written.set(uid, { uid, status, basedOn: resource.metadata.resourceVersion });
    return true;
  }

  forget(uid: string): void {
    this.#written.delete(uid);
  }
}
