/**
 * Whether the definition of a kind is there, and above all whether it is being deleted. Read it right before deciding on
 * the deletion of an object: the definition gets its deletionTimestamp before its objects do, so a fresh read can never
 * take "the kind is removed" for "the user deleted this one". An agent without the right to read definitions learns it
 * from discovery, where a terminating kind no longer offers `create`.
 * Source: apiextensions-apiserver, customresource_discovery_controller.go.
 */
import type { KubeClient, RequestOptions } from './kube-client.ts';
import { type CrdState, crdStateOf } from './custom-resource-definition.ts';
import { KubeError } from './kube-error.ts';
import { type KubeResource, RESOURCE } from './kube-resource.ts';

interface ApiResourceList {
  readonly resources?: readonly { readonly name: string; readonly verbs?: readonly string[] }[];
}

export async function readCrdState(
  client: KubeClient,
  resource: KubeResource,
  options: RequestOptions = {},
): Promise<CrdState> {
  const group = resource.apiVersion.split('/')[0] ?? '';
  try {
    const name = `${resource.plural}.${group}`;
    return crdStateOf(await client.find(RESOURCE.customResourceDefinition, { name }, options));
  } catch (error) {
    if (error instanceof KubeError && error.isForbidden()) return readByDiscovery(client, resource, options);
    throw error;
  }
}

async function readByDiscovery(client: KubeClient, resource: KubeResource, options: RequestOptions): Promise<CrdState> {
  try {
    const path = `/apis/${resource.apiVersion}`;
    const list = (await client.raw({ method: 'GET', path, ...options })) as ApiResourceList;
    const found = list.resources?.find(({ name }) => name === resource.plural);
    if (found === undefined) return { kind: 'ABSENT' };
    return found.verbs?.includes('create') === true ? { kind: 'SERVED' } : { kind: 'TERMINATING' };
  } catch (error) {
    if (error instanceof KubeError && error.isNotFound()) return { kind: 'ABSENT' };
    throw error;
  }
}
