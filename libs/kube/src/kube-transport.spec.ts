import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { FakeKubeServer, connectFakeKube, createTestCertificates, type TestCertificates } from '#testing';
import { createKubeClient } from './create-kube-client.ts';
import type { KubeClient } from './kube-client.ts';
import { RESOURCE } from './kube-resource.ts';

const at = { namespace: 'n', name: 'a' };

describe('the client over TLS', () => {
  let certificates: TestCertificates;
  let server: FakeKubeServer;
  let client: KubeClient;
  let ca: string;
  let ownKey: { cert?: string; key?: string };
  beforeEach(async () => {
    certificates = await createTestCertificates();
    const { certificatePem: cert, privateKeyPem: key, caPem } = certificates;
    ca = caPem;
    ownKey = {};
    server = await FakeKubeServer.start({ tls: { cert, key } });
    const credentials = () => Promise.resolve({ rejectUnauthorized: true, ca, ...ownKey });
    client = createKubeClient({ ...connectFakeKube(server), credentials }, { userAgent: 'unit/1' });
  });
  afterEach(async () => {
    await client.close();
    await server.stop();
  });

  it('verifies the server by the given CA, on each of several connections at once', async () => {
    const answers = [1, 2, 3, 4].map(() => client.find(RESOURCE.configMap, at));
    expect(await Promise.all(answers)).toEqual([undefined, undefined, undefined, undefined]);
    expect(server.connections).toBeGreaterThan(1);
  });

  it('refuses a server of another CA, and follows a CA that was replaced', async () => {
    const right = ca;
    ca = (await createTestCertificates()).caPem;
    await expect(client.get(RESOURCE.configMap, at)).rejects.toMatchObject({ reason: 'TLS' });
    ca = right;
    expect(await client.find(RESOURCE.configMap, at)).toBeUndefined();
  });

  it('says so when its own key cannot be read, and goes on with the next one', async () => {
    const { certificatePem: cert, privateKeyPem: key } = certificates;
    ownKey = { cert, key: '-----BEGIN PRIVATE KEY-----\nhalf a fi' };
    await expect(client.get(RESOURCE.configMap, at)).rejects.toMatchObject({ reason: 'CREDENTIALS' });
    ownKey = { cert, key };
    expect(await client.find(RESOURCE.configMap, at)).toBeUndefined();
  });
});
