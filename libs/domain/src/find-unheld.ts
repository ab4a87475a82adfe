/**
 * What of a spec the definition in a member cluster cannot hold (03 rule 14). Server-side apply with one unknown field fails
 * whole, so such a spec is not sent: it would be refused, or, worse, a pruned field would be read as its default. Only
 * what a recorded schema surely lacks is named; where nothing is recorded, the member cluster decides.
 */
import { ownValue } from './own-value.ts';

/** 1: any value. A list: these words alone. An object: these fields, `[]` the items of a list, `*` every key of a map. */
export type KnownFields = 1 | readonly string[] | { readonly [field: string]: KnownFields };

export interface KnownCrdSchema {
  /** Version of Atoll that brought it. */
  readonly release: string;
  readonly spec: KnownFields;
}

/** Paths with what is not known there, for instance `spec.auth.users` or `spec.deletionPolicy: Snapshot`; each once. */
export function findUnheld(spec: unknown, known: KnownFields, path = 'spec'): readonly string[] {
  return [...new Set(look(spec, known, path))];
}

function look(value: unknown, known: KnownFields, path: string): readonly string[] {
  if (known === 1 || value === null || value === undefined) return [];
  if (isWords(known)) return typeof value !== 'string' || known.includes(value) ? [] : [`${path}: ${value}`];
  if (Array.isArray(value)) {
    const { '[]': items } = known;
    return items === undefined ? [] : value.flatMap((item: unknown) => look(item, items, `${path}[]`));
  }
  if (typeof value !== 'object') return [];
  return Object.entries(value).flatMap(([name, inner]) => {
    const field = known['*'] ?? ownValue(known, name);
    return field === undefined ? [`${path}.${name}`] : look(inner, field, `${path}.${name}`);
  });
}

const isWords = (known: KnownFields): known is readonly string[] => Array.isArray(known);
