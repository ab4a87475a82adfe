export { createTestCertificates, type TestCertificates } from './create-test-certificates.ts';
export { FakeHub, type FakeSession } from './fake-hub.ts';
export { FakeHubConnection } from './fake-hub-connection.ts';
export { TcpProxy } from './tcp-proxy.ts';
export { buildTombstone, buildUpsert, describeOutcomes, sendDelta } from './desired-builders.ts';
export { LinkWorld, until } from './link-world.ts';
