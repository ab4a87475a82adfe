/**
 * Whether a live object still is what we want, field by field. Only fields that we set are looked at, so defaults of the
 * server and fields of others are no difference; quantities compare by amount. Invariant: an object that was just
 * applied has no difference, or every pass would write it again for ever.
 */
import { parseQuantity, type KubeObject } from '#domain';

const QUANTITY_FIELDS = new Set(['requests', 'limits', 'sizeLimit']);

/** Path of the first difference, for instance `spec.template.spec.containers[0].image`; undefined when there is none. */
export const diffObject = (desired: KubeObject, live: KubeObject): string | undefined => {
  const { metadata, ...rest } = desired;
  const wanted = { ...rest, metadata: { labels: metadata.labels, annotations: metadata.annotations } };
  return diffValue(wanted, live, '', false);
};

const diffValue = (desired: unknown, live: unknown, path: string, quantity: boolean): string | undefined => {
  if (desired === undefined || desired === live) return undefined;
  if (Array.isArray(desired)) return diffList(desired, live, path, quantity);
  if (typeof desired === 'object' && desired !== null) return diffFields(desired, live, path, quantity);
  if (quantity && sameQuantity(desired, live)) return undefined;
  return path;
};

const diffList = (desired: readonly unknown[], live: unknown, path: string, quantity: boolean): string | undefined => {
  if (!Array.isArray(live) || live.length !== desired.length) return path;
  for (const [index, item] of desired.entries()) {
    const found = diffValue(item, live[index], `${path}[${index}]`, quantity);
    if (found !== undefined) return found;
  }
  return undefined;
};

const diffFields = (desired: object, live: unknown, path: string, quantity: boolean): string | undefined => {
  if (typeof live !== 'object' || live === null || Array.isArray(live)) return path;
  const liveFields = new Map(Object.entries(live));
  for (const [name, value] of Object.entries(desired)) {
    const childPath = path === '' ? name : `${path}.${name}`;
    const found = diffValue(value, liveFields.get(name), childPath, quantity || QUANTITY_FIELDS.has(name));
    if (found !== undefined) return found;
  }
  return undefined;
};

const sameQuantity = (desired: unknown, live: unknown): boolean => {
  const left = parseQuantity(String(desired));
  const right = parseQuantity(String(live));
  return left !== undefined && right !== undefined && Math.abs(left - right) <= Math.abs(left) * 1e-12;
};
