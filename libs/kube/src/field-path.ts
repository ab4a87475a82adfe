/**
 * Paths into an object as Kubernetes writes them in apply conflicts: `spec.size`, `spec.config.maxmemory-policy`,
 * `spec.users[name="app"].acl`, `metadata.finalizers[="x"]`. A field's own name may hold dots (`config` keys, labels),
 * so a path is never cut at dots: the object is walked and each step must match the text, longest name first.
 */
import { ownValue } from '#domain';

type Fields = Readonly<Record<string, unknown>>;

const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Text of one list item's key, as structured-merge-diff prints it: `[name="app",port=6379]`. */
export const formatKey = (key: Fields): string =>
  `[${Object.entries(key)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, value]) => `${name}=${JSON.stringify(value)}`)
    .join(',')}]`;

export const formatValue = (value: unknown): string => `[=${JSON.stringify(value)}]`;

interface Found {
  readonly value: unknown;
  /** Steps from the root: field names and list indexes. */
  readonly steps: readonly (string | number)[];
}

function find(value: unknown, path: string, steps: readonly (string | number)[]): Found | undefined {
  if (path === '') return { value, steps };
  if (Array.isArray(value)) return findItem(value, path, steps);
  if (!isFields(value)) return undefined;
  const rest = path.startsWith('.') ? path.slice(1) : steps.length === 0 ? path : undefined;
  if (rest === undefined) return undefined;
  const names = Object.keys(value)
    .filter((name) => rest.startsWith(name) && /^($|[.[])/.test(rest.slice(name.length)))
    .sort((a, b) => b.length - a.length);
  for (const name of names) {
    const found = find(ownValue(value, name), rest.slice(name.length), [...steps, name]);
    if (found !== undefined) return found;
  }
  return undefined;
}

function findItem(items: readonly unknown[], path: string, steps: readonly (string | number)[]): Found | undefined {
  for (const [index, item] of items.entries()) {
    for (const text of itemTexts(item, path, index)) {
      if (!path.startsWith(text)) continue;
      const found = find(item, path.slice(text.length), [...steps, index]);
      if (found !== undefined) return found;
    }
  }
  return undefined;
}

/** The ways in which this item may be written in `path`: by index, by value, by the key fields the path names. */
function itemTexts(item: unknown, path: string, index: number): string[] {
  const texts = [`[${index}]`, formatValue(item)];
  if (isFields(item)) {
    const names = Object.keys(item).filter((name) => path.includes(`${name}=`));
    texts.push(formatKey(Object.fromEntries(names.map((name) => [name, ownValue(item, name)]))));
    for (const name of names) texts.push(formatKey({ [name]: ownValue(item, name) }));
  }
  return texts;
}

/** The live value at a path, or undefined when there is none. */
export const valueAtPath = (object: unknown, path: string): unknown => find(object, path, [])?.value;

/** A copy without the fields at these paths; maps that become empty go as well. Unknown paths are ignored. */
export function withoutPaths<T>(object: T, paths: readonly string[]): T {
  const steps = paths.map((path) => find(object, path, [])?.steps).filter((found) => found !== undefined);
  // Later list items first, so that an index stays true while its neighbours go.
  steps.sort((a, b) => compareSteps(b, a));
  const copy = structuredClone(object);
  for (const path of steps) removeAt(copy, path);
  return copy;
}

function compareSteps(a: readonly (string | number)[], b: readonly (string | number)[]): number {
  for (let i = 0; i < Math.min(a.length, b.length); i += 1) {
    const [left, right] = [a[i], b[i]];
    if (left === right) continue;
    if (typeof left === 'number' && typeof right === 'number') return left - right;
    return String(left) < String(right) ? -1 : 1;
  }
  return a.length - b.length;
}

function removeAt(container: unknown, [step, ...rest]: readonly (string | number)[]): void {
  if (step === undefined || typeof container !== 'object' || container === null) return;
  if (rest.length > 0) {
    const child = ownValue(container as Record<string, unknown>, String(step));
    removeAt(child, rest);
    if (!isFields(child) || Object.keys(child).length > 0) return;
  }
  if (Array.isArray(container)) container.splice(Number(step), 1);
  else delete (container as Record<string | number, unknown>)[step];
}

/** A copy that has the values of `source` at these paths. Left out: what `source` lacks, and what lies in a list. */
export function withValuesAt<T>(object: T, source: unknown, paths: readonly string[]): T {
  const copy = structuredClone(object);
  for (const path of paths) {
    const found = find(source, path, []);
    if (found !== undefined && found.steps.every((step) => typeof step === 'string'))
      setAt(copy, found.steps, found.value);
  }
  return copy;
}

/** Defined and not assigned: a foreign name such as `__proto__` is a field like any other. */
function setAt(container: unknown, [step, ...rest]: readonly (string | number)[], value: unknown): void {
  if (step === undefined || !isFields(container)) return;
  const own = ownValue(container as Record<string, unknown>, String(step));
  const child = rest.length === 0 ? value : isFields(own) ? own : {};
  Object.defineProperty(container, step, { value: child, enumerable: true, configurable: true, writable: true });
  setAt(child, rest, value);
}
