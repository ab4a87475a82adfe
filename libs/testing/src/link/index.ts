export { agentLimits } from './agent-limits.ts';
export { createTestCertificates, type TestCertificates } from './create-test-certificates.ts';
export { FakeHub, type FakeSession } from './fake-hub.ts';
export { FakeHubConnection } from './fake-hub-connection.ts';
export { FaultProxy } from './fault-proxy.ts';
export type { FaultConnection, Direction } from './fault-connection.ts';
export { buildTombstone, buildUpsert, describeOutcomes, sendDelta } from './desired-builders.ts';
export { LinkWorld, until } from './link-world.ts';
