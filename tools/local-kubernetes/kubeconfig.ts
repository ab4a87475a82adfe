import type { IssuedCertificate } from './certificates.ts';

/** A kubeconfig of one context; JSON, which is YAML too. Context, cluster and user bear the cluster's name. */
export function renderKubeconfig(name: string, server: string, caPem: string, client: IssuedCertificate): string {
  const base64 = (text: string) => Buffer.from(text).toString('base64');
  const config = {
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': name,
    contexts: [{ name, context: { cluster: name, user: name } }],
    clusters: [{ name, cluster: { server, 'certificate-authority-data': base64(caPem) } }],
    users: [
      {
        name,
        user: { 'client-certificate-data': base64(client.certificate), 'client-key-data': base64(client.key) },
      },
    ],
  };
  return `${JSON.stringify(config, null, 2)}\n`;
}
