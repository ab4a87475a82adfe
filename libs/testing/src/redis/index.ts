export * from './fake-redis.ts';
export * from './fake-sentinel.ts';
export * from './redis-contract.ts';
export * from './resp-server.ts';
export * from './sentinel-contract.ts';
export * from './start-sentinel-set.ts';
export { findForbidden, type ForbiddenCommand } from './find-forbidden.ts';
export { RecordingProxy, type RecordedCommand } from './recording-proxy.ts';
export { REVIEWED_DIRECTIVES } from './reviewed-directives.ts';
