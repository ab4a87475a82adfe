/** One field of an object and the manager that owns it, from metadata.managedFields. */
export interface FieldOwner {
  /** Dotted from the object's root: `spec.size`, `spec.config.maxmemory-policy`, `spec.users[name="app"].acl`. */
  readonly path: string;
  readonly manager: string;
  readonly operation: 'Apply' | 'Update';
  /** `status` and the like; undefined for the object itself. */
  readonly subresource?: string;
}
