export * from './acl-rules.ts';
export * from './diff-object.ts';
export * from './labels.ts';
export * from './names.ts';
export * from './record.ts';
export * from './render-children.ts';
export { MIN_REPLICAS_MAX_LAG_S, redisDirectives, restartHash } from './render-redis-config.ts';
export * from './resolve-spec.ts';
export * from './secrets.ts';
