/** What is known of a CustomResourceDefinition, and how bringing our own one ended. */

export type CrdState =
  | { readonly kind: 'ABSENT' }
  /** Being deleted: its objects wait for their finalizers. Children must be let go, never deleted. */
  | { readonly kind: 'TERMINATING' }
  | { readonly kind: 'PRESENT'; readonly established: boolean; readonly version: string; readonly schemaHash: string }
  /** No right to read the definition, but discovery shows it served. */
  | { readonly kind: 'SERVED' };

export interface EnsureCrdResult {
  /** KEPT: the live one is as new or newer, nothing was written. */
  readonly action: 'CREATED' | 'UPDATED' | 'UNCHANGED' | 'KEPT_NEWER';
  /** Of the live definition. */
  readonly schemaHash: string;
  readonly version: string;
}

/** Annotation with the whole number that orders definitions: never an older over a newer one. */
export const CRD_VERSION_ANNOTATION = 'redis.atoll.dev/crd-version';
