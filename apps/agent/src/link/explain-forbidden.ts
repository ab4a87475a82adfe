/**
 * What the hub may do in this member cluster, decided from the agent's own values alone. This is the bound that holds when
 * the hub is wrong or taken over, so nothing that the hub sends can widen it. Without it a hub runs any image in kube-system,
 * which is to be the administrator of the member cluster.
 */
import { ownValue } from '#domain';
import { isSystemPriorityClass, scopeCovers } from '#domain';
import type { Scope } from '#domain';
import type { AgentLimits } from './ports.ts';

export interface Bounds {
  readonly scope: Scope;
  /** Namespace that the agent itself runs in. */
  readonly namespace: string;
  readonly limits: AgentLimits;
}

type Spec = Readonly<Record<string, unknown>>;

/** A sentence why the namespace is not this agent's to serve for the hub, or undefined. */
export function explainForbiddenNamespace(bounds: Bounds, namespace: string): string | undefined {
  if (!scopeCovers(bounds.scope, namespace)) return `This agent does not serve namespace ${namespace}.`;
  const allowed = bounds.limits.namespaces;
  if (allowed.length === 0 || allowed.includes(namespace)) return undefined;
  return `This agent's values allow no objects in namespace ${namespace}.`;
}

/**
 * A sentence why the hub may write or delete nothing in this namespace, whatever the other limits say, or undefined. The own
 * namespace of an agent of scope NAMESPACE is where its RedisClusters live. That of a cluster-wide agent holds its key.
 */
export function explainProtectedNamespace(bounds: Bounds, namespace: string): string | undefined {
  const refused = `The hub may change nothing in namespace ${namespace}:`;
  if (namespace.startsWith('kube-')) return `${refused} namespaces called kube-… belong to Kubernetes.`;
  if (bounds.scope.kind === 'CLUSTER' && namespace === bounds.namespace) return `${refused} this agent runs there.`;
  const isNamed = bounds.limits.protectedNamespaces.some((pattern) =>
    pattern.endsWith('*') ? namespace.startsWith(pattern.slice(0, -1)) : namespace === pattern,
  );
  return isNamed ? `${refused} this agent's values protect it (limits.protectedNamespaces).` : undefined;
}

/** A sentence why a spec is out of bounds, or undefined. */
export const explainForbiddenSpec = (bounds: Bounds, spec: Spec): string | undefined =>
  explainForbiddenImage(bounds.limits.imageRegistries, textAt(spec, 'engine', 'image')) ??
  explainForbiddenPriority(bounds.limits.priorityClasses, textAt(spec, 'scheduling', 'priorityClassName'));

function explainForbiddenImage(allowed: readonly string[], image: string | undefined): string | undefined {
  if (image === undefined || allowed.includes('*') || allowed.some((place) => isFrom(image, place))) return undefined;
  return `This agent's values (limits.imageRegistries) do not allow the image ${fullReference(image)}.`;
}

function explainForbiddenPriority(allowed: readonly string[], name: string | undefined): string | undefined {
  if (name === undefined || name === '') return undefined;
  if (isSystemPriorityClass(name)) return `PriorityClass ${name} belongs to Kubernetes' own components.`;
  if (allowed.includes(name)) return undefined;
  return `This agent's values (limits.priorityClasses) do not allow the PriorityClass ${name}.`;
}

function textAt(spec: Spec, part: string, field: string): string | undefined {
  const fields = ownValue(spec, part);
  if (typeof fields !== 'object' || fields === null) return undefined;
  const value = ownValue(fields as Spec, field);
  return typeof value === 'string' ? value : undefined;
}

/** Source: the reference grammar of the distribution project; a first part without dot, colon or "localhost" is no host. */
function registryOf(image: string): string {
  const slash = image.indexOf('/');
  const first = slash === -1 ? '' : image.slice(0, slash);
  return /[.:]/.test(first) || first === 'localhost' ? first : 'docker.io';
}

const fullReference = (image: string): string =>
  image.startsWith(`${registryOf(image)}/`) ? image : `docker.io/${image.includes('/') ? image : `library/${image}`}`;

/** `place` is a registry, a path below it, or one repository. A port is part of a registry, and no tag of it. */
function isFrom(image: string, place: string): boolean {
  const reference = fullReference(image);
  const path = place.replace(/\/+$/, '');
  if (!reference.startsWith(path)) return false;
  const next = reference.charAt(path.length);
  return next === '/' || (path.includes('/') && (next === ':' || next === '@' || next === ''));
}
