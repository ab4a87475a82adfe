/** What is known of a CustomResourceDefinition: pure reading of the object. */
import { createHash } from 'node:crypto';
import canonicalize from 'canonicalize';
import { API_GROUP, type KubeObject } from '#domain';

/** Annotation with the whole number that orders definitions: never an older over a newer one. */
export const CRD_VERSION_ANNOTATION = `${API_GROUP}/crd-version`;

export type CrdState =
  | { readonly kind: 'ABSENT' }
  /** Being deleted: its objects wait for their finalizers. Children must be let go, never deleted. */
  | { readonly kind: 'TERMINATING' }
  | { readonly kind: 'PRESENT'; readonly established: boolean; readonly version: number; readonly schemaHash: string }
  /** We may not read the definition, but discovery shows the kind served and writable. */
  | { readonly kind: 'SERVED' };

interface CrdFields {
  readonly spec?: { readonly versions?: readonly { readonly name: string; readonly schema?: unknown }[] };
  readonly status?: { readonly conditions?: readonly { readonly type: string; readonly status: string }[] };
}

/** The annotation's number; 0 when it is missing or no whole number. */
export function crdVersionOf(definition: KubeObject): number {
  const text = definition.metadata.annotations?.[CRD_VERSION_ANNOTATION] ?? '';
  return /^[0-9]{1,9}$/.test(text) ? Number(text) : 0;
}

/** Of objects that were hashed already: tens of kilobytes of schema, which are looked at every half minute for ever. */
const HASHES = new WeakMap<KubeObject, string>();

/** SHA-256 hex of the schemas of all versions as canonical JSON (RFC 8785): equal exactly when they accept the same. */
export function crdSchemaHash(definition: KubeObject): string {
  const known = HASHES.get(definition);
  if (known !== undefined) return known;
  const hash = hashSchemas(definition);
  HASHES.set(definition, hash);
  return hash;
}

function hashSchemas(definition: KubeObject): string {
  const versions = (definition as CrdFields).spec?.versions ?? [];
  const schemas = versions.map(({ name, schema }) => ({ name, schema: schema ?? null }));
  return createHash('sha256')
    .update(canonicalize(schemas) ?? '')
    .digest('hex');
}

export function crdConditionIsTrue(definition: KubeObject, type: string): boolean {
  const conditions = (definition as CrdFields).status?.conditions ?? [];
  return conditions.some((condition) => condition.type === type && condition.status === 'True');
}

export function crdStateOf(definition: KubeObject | undefined): CrdState {
  if (definition === undefined) return { kind: 'ABSENT' };
  if (definition.metadata.deletionTimestamp !== undefined) return { kind: 'TERMINATING' };
  return {
    kind: 'PRESENT',
    established: crdConditionIsTrue(definition, 'Established'),
    version: crdVersionOf(definition),
    schemaHash: crdSchemaHash(definition),
  };
}
