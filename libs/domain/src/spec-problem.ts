/** What the checks of a spec speak in, and the limits that the CRD's schema repeats. */
export type SpecProblemCode =
  | 'UNSUPPORTED_VERSION'
  | 'INVALID_IMAGE'
  | 'INVALID_SIZE'
  | 'INVALID_SENTINEL'
  | 'INVALID_DURATION'
  | 'INVALID_QUANTITY'
  | 'INVALID_RESOURCE'
  | 'INVALID_STORAGE_CLASS'
  | 'STORAGE_SIZE_REQUIRED'
  | 'VOLUME_REQUIRED'
  | 'OPERATOR_OWNED_CONFIG'
  | 'INVALID_CONFIG'
  | 'INVALID_NAME'
  | 'MAXMEMORY_ABOVE_LIMIT'
  | 'INVALID_MEMORY'
  | 'INVALID_PERSISTENCE'
  | 'INVALID_USER'
  | 'INVALID_SECRET_REF'
  | 'INVALID_SCHEDULING'
  | 'INVALID_UPDATE_STRATEGY'
  | 'INVALID_FAILOVER'
  | 'INVALID_MAINTENANCE_WINDOW'
  | 'FIELD_FIXED';

export interface SpecProblem {
  /** From the object's root, for instance `['spec', 'config', 'port']`. */
  readonly path: readonly string[];
  readonly code: SpecProblemCode;
  /** A sentence: what is wrong and what to write instead. */
  readonly message: string;
}

export const SPEC_LIMITS = {
  maxSize: 15,
  minSentinels: 3,
  maxSentinels: 9,
  maxConfigKeys: 256,
  maxConfigValueLength: 4096,
  maxUsers: 32,
  maxUserNameLength: 32,
  maxUserRulesLength: 1024,
  maxMaintenanceWindows: 16,
  maxSavePoints: 8,
  maxTolerations: 32,
  minMaxmemoryPercent: 10,
  maxMaxmemoryPercent: 90,
} as const;

/** `path` with slashes, from the spec; `name` is a key of the user's own, which may hold a slash. */
export const specProblem = (path: string, code: SpecProblemCode, message: string, name?: string): SpecProblem => ({
  path: ['spec', ...path.split('/'), ...(name === undefined ? [] : [name])],
  code,
  message,
});
