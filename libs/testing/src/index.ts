export * from './redis/index.ts';
export * from './kube/index.ts';
export * from './link/index.ts';
export * from './protocol/index.ts';
export * from './world/index.ts';
export * from './guard/start-guard.ts';
export * from './guard/guard-scene.ts';
export { claimPort, claimPorts } from './ports/claim-ports.ts';
