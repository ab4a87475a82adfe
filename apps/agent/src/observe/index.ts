export { CredentialsObserver } from './observe-credentials.ts';
export type { DataSetAccess } from './data-set-access.ts';
export { Observer, STALE_AFTER_MS } from './gather-snapshot.ts';
export { LinkPool } from './link-pool.ts';
export { MemberCache } from './member-cache.ts';
export type { MemberCacheSettings, ResourceChange } from './member-cache.ts';
export { readHeardAtMs } from './read-heard-at.ts';
export { OperationCache } from './operation-cache.ts';
export { SecretReader } from './secret-reader.ts';
