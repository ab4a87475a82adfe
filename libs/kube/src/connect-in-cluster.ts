/** The connection of a pod: its mounted service account. Source: kubernetes.io "Accessing the API from within a Pod". */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { KubeConnection } from './kube-connection.ts';
import { openRotatingFile } from './read-rotating-file.ts';

export const SERVICE_ACCOUNT_FOLDER = '/var/run/secrets/kubernetes.io/serviceaccount';

export async function connectInCluster(
  env: Readonly<Record<string, string | undefined>>,
  monotonicMs: () => number,
  folder = SERVICE_ACCOUNT_FOLDER,
): Promise<KubeConnection> {
  const host = env['KUBERNETES_SERVICE_HOST'];
  const port = env['KUBERNETES_SERVICE_PORT'] ?? '443';
  if (!host) throw new Error('no kubeconfig was given, and KUBERNETES_SERVICE_HOST is not set: not running in a pod');
  const token = openRotatingFile(join(folder, 'token'), monotonicMs);
  const ca = openRotatingFile(join(folder, 'ca.crt'), monotonicMs);
  await Promise.all([token.read(), ca.read()]);
  const namespace = await readFile(join(folder, 'namespace'), 'utf8').catch(() => 'default');
  return {
    server: `https://${host.includes(':') ? `[${host}]` : host}:${port}`,
    namespace: namespace.trim(),
    source: 'in-cluster',
    async credentials() {
      const [bearer, bundle] = await Promise.all([token.read(), ca.read()]);
      return { ca: bundle, rejectUnauthorized: true, authorization: `Bearer ${bearer}` };
    },
    invalidate() {
      token.invalidate();
      ca.invalidate();
    },
  };
}
