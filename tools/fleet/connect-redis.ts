import { Redis } from 'ioredis';
import { ADVISED_CLIENT, ADVISED_SENTINEL_CLIENT } from './advised-client.ts';
import { runCommand } from '../setup/run-command.ts';

/** Runs kubectl against one cluster, with `input` on its stdin, and answers its stdout. */
export type Kubectl = (args: readonly string[], input?: string) => Promise<string>;

/** kubectl of a kubeconfig file; `binary` is its argv, for instance `['kubectl']`. */
export function kubectlOf(binary: readonly string[], kubeconfigPath: string, context?: string): Kubectl {
  const chosen = context === undefined ? [] : [`--context=${context}`];
  return (args, input) =>
    runCommand([...binary, `--kubeconfig=${kubeconfigPath}`, ...chosen, ...args], input === undefined ? {} : { input });
}

/** The Secret `<name>-connection` that Atoll publishes for clients, decoded. */
export async function readConnection(
  kubectl: Kubectl,
  namespace: string,
  name: string,
): Promise<Record<string, string>> {
  const secret = JSON.parse(await kubectl(['get', 'secret', `${name}-connection`, '-n', namespace, '-o', 'json'])) as {
    data?: Record<string, string>;
  };
  const decoded = Object.entries(secret.data ?? {}).map(([key, value]) => [
    key,
    Buffer.from(value, 'base64').toString(),
  ]);
  return Object.fromEntries(decoded) as Record<string, string>;
}

/**
 * An ioredis client as an application has one: by way of Sentinel, or of the primary's Service where there is none. It
 * dials Services by their address, since this machine does not use the cluster's DNS; pods do.
 */
export async function connectRedis(kubectl: Kubectl, namespace: string, name: string): Promise<Redis> {
  const connection = await readConnection(kubectl, namespace, name);
  const addressOf = (service: string): Promise<string> =>
    kubectl(['get', 'service', service, '-n', namespace, '-o', 'jsonpath={.spec.clusterIP}']);
  const { username = '', password = '', masterName = '' } = connection;
  if (masterName === '') {
    const host = await addressOf(name);
    return new Redis({ ...ADVISED_CLIENT, host, port: Number(connection['port']), username, password });
  }
  return new Redis({
    ...ADVISED_CLIENT,
    ...ADVISED_SENTINEL_CLIENT,
    sentinels: [{ host: await addressOf(`${name}-sentinel`), port: Number(connection['sentinelPort']) }],
    name: masterName,
    sentinelUsername: username,
    sentinelPassword: password,
    username,
    password,
  });
}
