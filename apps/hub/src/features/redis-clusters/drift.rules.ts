/**
 * Which fields of a pushed object a person changed. The agent reports every spec field that another field manager owns,
 * with its live value; here that is compared with the spec the hub stored. A field that another manager holds with the
 * wanted value is no drift. Without the comparison each `kubectl apply` of the same values would raise an alarm, and
 * without the report an edit would stay unseen until the next push. Paths, names and values are foreign: a field that
 * cannot be compared is drift that shows as it came, so that it can be reverted, and no other object is affected.
 */
import { ownValue, setOwnValue } from '#domain';
import { canonicalJson, type ForeignField } from '#protocol';

export interface Drift {
  /** As the agent wrote it: `spec.size`, `spec.config.maxmemory-policy`. */
  readonly path: string;
  readonly manager: string;
  /** Undefined: the field was removed. */
  readonly liveValue: unknown;
  /** Undefined: the hub wants the default. */
  readonly wantedValue: unknown;
}

export interface DriftReport {
  readonly spec: Readonly<Record<string, unknown>>;
  /** From status; null: never reported. */
  readonly foreignFields: readonly ForeignField[] | null;
  readonly statusAt: Date | null;
  /** From the delivery: fields left to their owners when the current generation was applied. */
  readonly contested: readonly ForeignField[] | null;
  readonly deliveryAt: Date | null;
}

/** The drifted fields, in the order of their paths. */
export function listDrift(report: DriftReport): readonly Drift[] {
  const byPath = new Map<string, ForeignField>();
  const statusIsNewer = report.statusAt !== null && report.deliveryAt !== null && report.statusAt >= report.deliveryAt;
  if (!statusIsNewer) for (const field of report.contested ?? []) byPath.set(field.path, field);
  for (const field of report.foreignFields ?? []) byPath.set(field.path, field);
  return [...byPath.values()]
    .map((field) => toDrift(field, report.spec))
    .filter((drift) => !isSame(drift.liveValue, drift.wantedValue))
    .sort((a, b) => (a.path < b.path ? -1 : 1));
}

/** The spec with the live values of these fields. The input is not changed. */
export function acceptFields(
  spec: Readonly<Record<string, unknown>>,
  drifts: readonly Drift[],
): Record<string, unknown> {
  const accepted = structuredClone(spec) as Record<string, unknown>;
  for (const drift of drifts) writeField(accepted, splitPath(drift.path), drift.liveValue);
  return accepted;
}

/** Whose keys the user chooses, some with dots in them: `kubernetes.io/arch`. */
const MAPS: readonly string[] = [
  'config',
  'scheduling.nodeSelector',
  ...['resources', 'sentinel.resources'].flatMap((path) => [`${path}.limits`, `${path}.requests`]),
];

/** `spec.config.maxmemory` → ['config', 'maxmemory']. Names of our own fields hold no dots. */
function splitPath(path: string): string[] {
  const inSpec = path.replace(/^\.?spec\./, '');
  const map = MAPS.find((name) => inSpec.startsWith(`${name}.`));
  return map === undefined ? inSpec.split('.') : [...map.split('.'), inSpec.slice(map.length + 1)];
}

function toDrift(field: ForeignField, spec: unknown): Drift {
  return {
    path: field.path,
    manager: field.manager,
    liveValue: field.liveValue === undefined ? undefined : readLiveValue(field.liveValue),
    wantedValue: splitPath(field.path).reduce(readField, spec),
  };
}

/** Deepest nesting that is shown as a value: comparing and answering are recursive. */
const MAX_LIVE_DEPTH = 64;

/** What cannot be read is shown as it is: thrown at here, one agent's report would blank every list it is part of. */
function readLiveValue(text: string): unknown {
  try {
    const value = JSON.parse(text) as unknown;
    return isShallow(value, MAX_LIVE_DEPTH) ? value : text;
  } catch {
    return text;
  }
}

function isShallow(value: unknown, depth: number): boolean {
  if (typeof value !== 'object' || value === null) return true;
  return depth > 0 && Object.values(value).every((inner) => isShallow(inner, depth - 1));
}

const readField = (value: unknown, name: string): unknown =>
  typeof value === 'object' && value !== null ? ownValue(value as Record<string, unknown>, name) : undefined;

/** What has no canonical form, such as half a surrogate pair, is not what the hub wants: it stored only what has one. */
function isSame(a: unknown, b: unknown): boolean {
  if (a === undefined || b === undefined) return a === b;
  try {
    return canonicalJson(a) === canonicalJson(b);
  } catch {
    return false;
  }
}

function writeField(target: Record<string, unknown>, path: readonly string[], value: unknown): void {
  const [name, ...rest] = path;
  if (name === undefined) return;
  if (rest.length > 0) {
    const inner = ownValue(target, name);
    const next = typeof inner === 'object' && inner !== null ? (inner as Record<string, unknown>) : {};
    setOwnValue(target, name, next);
    writeField(next, rest, value);
  } else if (value === undefined) delete target[name];
  else setOwnValue(target, name, value);
}
