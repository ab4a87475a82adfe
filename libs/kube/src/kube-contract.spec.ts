import { afterEach, beforeEach, describe, it } from 'vitest';
import { connectFakeKube, FakeKubeServer, KUBE_CONTRACT } from '#testing';
import { createKubeClient } from './create-kube-client.ts';
import type { KubeClient } from './kube-client.ts';

describe('the contract of an API server, on the fake one', () => {
  let server: FakeKubeServer;
  let client: KubeClient;
  beforeEach(async () => {
    server = await FakeKubeServer.start();
    client = createKubeClient(connectFakeKube(server), { userAgent: 'contract/0' });
    // Version 1 is older than what it remembers, as on any server that has lived for a while.
    server.store.version = 10;
    server.store.compact();
  });
  afterEach(async () => {
    await client.close();
    await server.stop();
  });

  for (const { name, run } of KUBE_CONTRACT) it(name, () => run({ client, namespace: 'contract' }));
});
