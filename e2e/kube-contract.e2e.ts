// The promises that libs/kube builds on, on a real API server; the same cases run on the fake one in unit tests.
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, it } from 'vitest';
import { createKubeClient, type KubeClient, loadKubeConnection, RESOURCE } from '#kube';
import { KUBE_CONTRACT } from '#testing';
import { sharedFleet } from './fleet.ts';

describe('the contract of an API server, on the real one', () => {
  let client: KubeClient;
  beforeAll(async () => {
    // The variable allows a run against any cluster, without starting the fleet.
    const kubeconfigPath = process.env['ATOLL_E2E_KUBECONFIG_A'] ?? (await sharedFleet()).a.cluster.kubeconfigPath;
    client = createKubeClient(await loadKubeConnection({ kubeconfigPath }), { userAgent: 'kube-contract/0' });
  });
  afterAll(() => client.close());

  for (const { name, run } of KUBE_CONTRACT) {
    it(name, async () => {
      const namespace = `kube-contract-${randomUUID().slice(0, 8)}`;
      await client.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } });
      try {
        await run({ client, namespace });
      } finally {
        await client.delete(RESOURCE.namespace, { name: namespace });
      }
    });
  }
});
