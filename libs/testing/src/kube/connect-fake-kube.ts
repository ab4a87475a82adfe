/** A KubeConnection to a fake API server. */
import type { KubeConnection } from '#kube';
import type { FakeKubeServer } from './fake-kube-server.ts';

export function connectFakeKube(server: FakeKubeServer, token?: string): KubeConnection {
  return {
    server: server.url,
    namespace: 'default',
    source: 'fake',
    credentials: () =>
      Promise.resolve({ rejectUnauthorized: true, ...(token !== undefined && { authorization: `Bearer ${token}` }) }),
    invalidate: () => undefined,
  };
}
