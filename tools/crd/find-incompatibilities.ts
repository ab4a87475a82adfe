/**
 * Whether a schema takes everything that a released one took. Conversion between versions is None for ever, so a field
 * may be added and a limit loosened, and nothing else: an object that was stored under the old schema must stay valid
 * and keep every field, or an upgrade of the CRD loses data in silence.
 */
import { NO_OLDER_VERSION } from './no-older-version.ts';
import { NO_INHERITED_NAME, type Schema } from './schema-parts.ts';
import { SNAPSHOT_NEEDS_VOLUME, VOLUME_GROWS } from './spec-rules.ts';

type Finding = string;

/** Sentences, one a narrowing; empty when the current schema is additive over the released one. */
export const findIncompatibilities = (released: Schema, current: Schema | undefined, path = ''): Finding[] => {
  const at = path === '' ? 'the root' : path;
  if (current === undefined) return [`${at} was removed`];
  return [
    ...compareType(released, current, at),
    ...compareLimits(released, current, at),
    ...compareLists(released, current, at),
    ...compareRules(released, current, at),
    ...compareChildren(released, current, path),
  ];
};

const compareType = (released: Schema, current: Schema, at: string): Finding[] => {
  const exact = ['type', 'format', 'pattern', 'x-kubernetes-int-or-string', 'x-kubernetes-list-type'] as const;
  return exact
    .filter((key) => current[key] !== undefined || key === 'type')
    .filter((key) => current[key] !== released[key])
    .map((key) => `${at}: ${key} changed from ${String(released[key])} to ${String(current[key])}`);
};

const UPPER = ['maxLength', 'maximum', 'maxProperties', 'maxItems'] as const;
const LOWER = ['minLength', 'minimum', 'minProperties'] as const;

const compareLimits = (released: Schema, current: Schema, at: string): Finding[] => [
  ...UPPER.filter((key) => (current[key] ?? Infinity) < (released[key] ?? Infinity)).map(
    (key) => `${at}: ${key} fell from ${released[key] ?? 'none'} to ${current[key]}`,
  ),
  ...LOWER.filter((key) => (current[key] ?? -Infinity) > (released[key] ?? -Infinity)).map(
    (key) => `${at}: ${key} rose from ${released[key] ?? 'none'} to ${current[key]}`,
  ),
];

const compareLists = (released: Schema, current: Schema, at: string): Finding[] => [
  ...(current.required ?? [])
    .filter((name) => !(released.required ?? []).includes(name))
    .map((name) => `${at}: ${name} became required`),
  ...(current.enum === undefined
    ? []
    : (released.enum ?? ['any text'])
        .filter((value) => !current.enum?.includes(value))
        .map((value) => `${at}: ${value} is no longer allowed`)),
];

const compareRules = (released: Schema, current: Schema, at: string): Finding[] => {
  const known = new Set((released['x-kubernetes-validations'] ?? []).map(({ rule }) => rule));
  return (current['x-kubernetes-validations'] ?? [])
    .filter(({ rule }) => !known.has(rule) && !isSilentWithout(rule, released) && !TAKES_WHAT_WAS_TAKEN.has(rule))
    .filter(({ rule }) => !REFUSES_ONLY_CHANGES.has(rule))
    .map(({ rule }) => `${at}: a rule was added that may refuse stored objects: ${rule}`);
};

/** `!has(self.x) || …`, where the release has no x: what it stored has none either, and one must write x to be judged. */
const isSilentWithout = (rule: string, released: Schema): boolean => {
  const [, field] = /^!has\(self\.(\w+)\) \|\| /.exec(rule) ?? [];
  const [, parent, child] = /^!has\(self\.(\w+)\) \|\| !has\(self\.\1\.(\w+)\) \|\| /.exec(rule) ?? [];
  const known = released.properties ?? {};
  if (field !== undefined && known[field] === undefined) return true;
  return parent !== undefined && child !== undefined && known[parent]?.properties?.[child] === undefined;
};

/** Rules that came in the place of stricter ones, or judge a value that no release before took; each read by a person. */
const TAKES_WHAT_WAS_TAKEN: ReadonlySet<string> = new Set(
  [VOLUME_GROWS, SNAPSHOT_NEEDS_VOLUME, NO_OLDER_VERSION].map(({ rule }) => rule),
);

/**
 * Rules that refuse what a release took, and what no data set ran with. The API server asks such a rule again only when its
 * own map changes (ratcheting, on from Kubernetes 1.30, the oldest that the charts install on): an object that was stored with
 * such a name can be labelled, reported on and deleted, and its next change of that map must take the name out.
 */
const REFUSES_ONLY_CHANGES: ReadonlySet<string> = new Set([NO_INHERITED_NAME.rule]);

const compareChildren = (released: Schema, current: Schema, path: string): Finding[] => {
  const findings = Object.entries(released.properties ?? {}).flatMap(([name, child]) =>
    findIncompatibilities(child, current.properties?.[name], path === '' ? name : `${path}.${name}`),
  );
  if (released.items) findings.push(...findIncompatibilities(released.items, current.items, `${path}[]`));
  if (released.additionalProperties) {
    findings.push(...findIncompatibilities(released.additionalProperties, current.additionalProperties, `${path}.*`));
  }
  return findings;
};
