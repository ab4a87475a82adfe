/**
 * What the hub may do in this member cluster, decided from the agent's own values alone. This is the bound that holds when
 * the hub is wrong or taken over, so nothing that the hub sends can widen it.
 */
import { scopeCovers } from '#domain';
import type { Scope } from '#domain';
import type { AgentLimits } from './ports.ts';

export interface Bounds {
  readonly scope: Scope;
  readonly limits: AgentLimits;
}

/** A sentence why the namespace is out of bounds, or undefined. */
export function explainForbiddenNamespace(bounds: Bounds, namespace: string): string | undefined {
  if (!scopeCovers(bounds.scope, namespace)) return `This agent does not serve namespace ${namespace}.`;
  const allowed = bounds.limits.namespaces;
  if (allowed.length === 0 || allowed.includes(namespace)) return undefined;
  return `This agent's values allow no objects in namespace ${namespace}.`;
}

/** A sentence why a spec is out of bounds, or undefined. */
export function explainForbiddenSpec(bounds: Bounds, spec: Readonly<Record<string, unknown>>): string | undefined {
  const allowed = bounds.limits.imageRegistries;
  const image = readImage(spec);
  if (allowed.length === 0 || image === undefined) return undefined;
  if (allowed.some((registry) => isFrom(image, registry))) return undefined;
  return `This agent's values allow no image from ${registryOf(image)}.`;
}

function readImage(spec: Readonly<Record<string, unknown>>): string | undefined {
  const engine = spec['engine'];
  if (typeof engine !== 'object' || engine === null) return undefined;
  const image = (engine as Readonly<Record<string, unknown>>)['image'];
  return typeof image === 'string' ? image : undefined;
}

/** Source: the reference grammar of the distribution project; a first part without dot, colon or "localhost" is no host. */
function registryOf(image: string): string {
  const slash = image.indexOf('/');
  const first = slash === -1 ? '' : image.slice(0, slash);
  return /[.:]/.test(first) || first === 'localhost' ? first : 'docker.io';
}

const fullReference = (image: string): string =>
  image.startsWith(`${registryOf(image)}/`) ? image : `docker.io/${image.includes('/') ? image : `library/${image}`}`;

const isFrom = (image: string, registry: string): boolean =>
  fullReference(image).startsWith(`${registry.replace(/\/+$/, '')}/`);
