/** The reading half of KubeClient: one object, one page, all pages. */
import type { KubeObject } from '#domain';
import { early, type Send } from './kube-verb.ts';
import type { KubeClient, KubeList, ListOptions, RequestOptions } from './kube-client.ts';
import { KubeError } from './kube-error.ts';
import { collectionPath, type KubeResource, objectPath, type ResourceName } from './kube-resource.ts';

const PAGE_SIZE = 500;

export function readVerbs(send: Send): Pick<KubeClient, 'get' | 'find' | 'list' | 'listAll'> {
  const get = async <T extends KubeObject>(resource: KubeResource, at: ResourceName, options: RequestOptions = {}) =>
    send<T>({ method: 'GET', path: objectPath(resource, at), ...early(options) });
  const list = async <T extends KubeObject>(resource: KubeResource, options: ListOptions = {}) =>
    listPage<T>(send, resource, options);
  return {
    get,
    async find<T extends KubeObject>(resource: KubeResource, at: ResourceName, options: RequestOptions = {}) {
      try {
        return await get<T>(resource, at, options);
      } catch (error) {
        if (error instanceof KubeError && error.isNotFound()) return undefined;
        throw error;
      }
    },
    list,
    async listAll<T extends KubeObject>(resource: KubeResource, options: Omit<ListOptions, 'continue'> = {}) {
      const items: T[] = [];
      const { resourceVersion: _onlyForTheFirst, ...rest } = options;
      let page = await list<T>(resource, { limit: PAGE_SIZE, ...options });
      items.push(...page.items);
      while (page.continue !== undefined) {
        page = await list<T>(resource, { limit: PAGE_SIZE, ...rest, continue: page.continue });
        items.push(...page.items);
      }
      return { items, resourceVersion: page.resourceVersion };
    },
  };
}

async function listPage<T extends KubeObject>(
  send: Send,
  resource: KubeResource,
  options: ListOptions,
): Promise<KubeList<T>> {
  const answer = await send<{
    readonly items?: readonly T[] | null;
    readonly metadata?: { readonly resourceVersion?: string; readonly continue?: string };
  }>({
    method: 'GET',
    path: collectionPath(resource, options.namespace),
    query: {
      limit: options.limit?.toString(),
      continue: options.continue,
      resourceVersion: options.resourceVersion,
      labelSelector: options.labelSelector,
      fieldSelector: options.fieldSelector,
    },
    ...early(options),
  });
  const next = answer.metadata?.continue;
  return {
    items: (answer.items ?? []).map((item) => ({ ...item, apiVersion: resource.apiVersion, kind: resource.kind })),
    resourceVersion: answer.metadata?.resourceVersion ?? '',
    ...(next && { continue: next }),
  };
}
