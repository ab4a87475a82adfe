import type { LocalCluster } from '../tools/local-kubernetes/index.ts';
import { kubectl, listItems } from './member.ts';

/** Passwords of the credentials Secret by key, as only the agent and an administrator of the namespace may read them. */
export async function readCredentials(
  cluster: LocalCluster,
  namespace: string,
  name: string,
): Promise<Record<string, string>> {
  const secrets = await listItems(cluster, namespace, 'secrets', `app.kubernetes.io/instance=${name}`);
  const credentials = secrets.find(({ metadata }) => metadata.name.endsWith('-credentials'));
  const entries = Object.entries(credentials?.data ?? {});
  return Object.fromEntries(entries.map(([key, value]) => [key, Buffer.from(value, 'base64').toString()]));
}

/** Commands as the operator's own user, in the pod; the password goes through stdin, never through arguments. */
export async function adminCli(
  cluster: LocalCluster,
  pod: { readonly namespace: string; readonly name: string; readonly instance: string },
  commands: readonly string[],
): Promise<string> {
  const { atoll = '' } = await readCredentials(cluster, pod.namespace, pod.instance);
  const sentinel = pod.name.includes('-sentinel-');
  const cli = ['--', 'redis-cli', ...(sentinel ? ['-p', '26379'] : [])];
  const input = [`AUTH atoll ${atoll}`, ...commands, ''].join('\n');
  const container = sentinel ? 'sentinel' : 'redis';
  return kubectl(cluster, ['exec', '-i', '-n', pod.namespace, pod.name, '-c', container, ...cli], input);
}
