/**
 * The link's way to the member's API server: reads are free, every write is fenced. A Lease is not a fence (03 rule 15), so
 * the age of ours is asked right before each write and never earlier; without that a frozen process would write
 * after another one took over.
 */
import type { KubeObject } from '#domain';
import { KubeError } from '#kube';
import type { KubeClient, KubeResource, ResourceName } from '#kube';

export type MemberApi = Pick<KubeClient, 'get' | 'find' | 'create' | 'replace' | 'apply' | 'patchMerge' | 'delete'>;

/**
 * The object, or undefined when the server says that this very object does not exist. A kind that is not served (the CRD
 * is absent, or being made anew) is a 404 as well and is thrown: taken for absence it would look like a deletion.
 */
export async function findObject(
  api: Pick<MemberApi, 'get'>,
  resource: KubeResource,
  at: Required<ResourceName>,
): Promise<KubeObject | undefined> {
  const { namespace, name } = at;
  try {
    return await api.get(resource, { namespace, name });
  } catch (error) {
    const isAbsent = error instanceof KubeError && error.isNotFound() && error.message.includes(`"${name}" not found`);
    if (isAbsent) return undefined;
    throw error;
  }
}

/** This process must not write now. Nothing was sent; another process will do the work. */
export class FencedError extends Error {
  override readonly name = 'FencedError';
  constructor() {
    super('this process does not hold a young enough lease, so it writes nothing');
  }
}

export function createMemberApi(client: KubeClient, fence: () => boolean): MemberApi {
  const fenced = <T>(write: () => Promise<T>): Promise<T> => (fence() ? write() : Promise.reject(new FencedError()));
  return {
    get: (resource, at, options) => client.get(resource, at, options),
    find: (resource, at, options) => client.find(resource, at, options),
    create: (object, options) => fenced(() => client.create(object, options)),
    replace: (object, options) => fenced(() => client.replace(object, options)),
    apply: (object, options) => fenced(() => client.apply(object, options)),
    patchMerge: (resource, at, patch, options) => fenced(() => client.patchMerge(resource, at, patch, options)),
    delete: (resource, at, options) => fenced(() => client.delete(resource, at, options)),
  };
}
