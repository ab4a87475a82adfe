/** Label and field selectors, as far as Atoll uses them: `a=b`, `a!=b`, `a`, `!a`, `a in (b,c)`; metadata.name and so on. */
import type { KubeObject } from '#domain';

export interface Selectors {
  readonly labelSelector?: string | undefined;
  readonly fieldSelector?: string | undefined;
}

export function matchesSelectors(object: KubeObject, { labelSelector, fieldSelector }: Selectors): boolean {
  const labels = object.metadata.labels ?? {};
  return (
    splitTerms(labelSelector).every((term) => matchesLabel(labels, term)) &&
    splitTerms(fieldSelector).every((term) => matchesField(object, term))
  );
}

/** Cuts at commas outside parentheses. */
const splitTerms = (selector: string | undefined): string[] =>
  selector ? selector.split(/,(?![^(]*\))/).map((term) => term.trim()) : [];

function matchesLabel(labels: Readonly<Record<string, string>>, term: string): boolean {
  const set = /^(\S+) (in|notin) \((.*)\)$/.exec(term);
  if (set) {
    const values = (set[3] ?? '').split(',').map((value) => value.trim());
    return values.includes(labels[set[1] ?? ''] ?? '') === (set[2] === 'in');
  }
  const comparison = /^([^!=]+)(==|!=|=)(.*)$/.exec(term);
  if (comparison) return (labels[comparison[1] ?? ''] === comparison[3]) === (comparison[2] !== '!=');
  return term.startsWith('!') ? labels[term.slice(1)] === undefined : labels[term] !== undefined;
}

function matchesField(object: KubeObject, term: string): boolean {
  const [, path = '', operator, wanted] = /^([^!=]+)(==|!=|=)(.*)$/.exec(term) ?? [];
  let value: unknown = object;
  for (const step of path.split('.')) value = (value as Record<string, unknown> | undefined)?.[step];
  return (String(value ?? '') === wanted) === (operator !== '!=');
}
