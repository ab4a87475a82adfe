export * from './redis/index.ts';
export * from './kube/index.ts';
