import { setTimeout as sleep } from 'node:timers/promises';
import { type KubeClient, RESOURCE } from '#kube';

/** A data pod with an address. */
export interface Member {
  readonly pod: string;
  readonly host: string;
}

export interface LedgerTarget {
  readonly client: KubeClient;
  readonly namespace: string;
  readonly name: string;
}

/** What a user finds in the Secret `<name>-connection`. */
export interface Connection {
  readonly username: string;
  readonly password: string;
  readonly port: number;
  /** '' where there is no Sentinel. */
  readonly masterName: string;
  readonly sentinelPort: number;
}

interface PodObject {
  readonly metadata: { readonly name: string };
  readonly status?: { readonly podIP?: string };
}

/** The data pods of the RedisCluster that have an address now. */
export async function listMembers({ client, namespace, name }: LedgerTarget): Promise<Member[]> {
  const labelSelector = `app.kubernetes.io/instance=${name},app.kubernetes.io/component=redis`;
  const { items } = await client.listAll(RESOURCE.pod, { namespace, labelSelector });
  return (items as unknown as readonly PodObject[]).flatMap(({ metadata, status }) =>
    status?.podIP === undefined ? [] : [{ pod: metadata.name, host: status.podIP }],
  );
}

export async function readLedgerConnection({ client, namespace, name }: LedgerTarget): Promise<Connection> {
  const secret = await client.get(RESOURCE.secret, { namespace, name: `${name}-connection` });
  const data = (secret as { data?: Readonly<Record<string, string>> }).data ?? {};
  const value = (key: string): string => Buffer.from(data[key] ?? '', 'base64').toString();
  return {
    username: value('username'),
    password: value('password'),
    port: Number(value('port')),
    masterName: value('masterName'),
    sentinelPort: Number(value('sentinelPort')),
  };
}

/** The address of a Service, for machines that do not use the cluster's DNS. */
export async function readServiceAddress(target: LedgerTarget, name: string): Promise<string> {
  const service = await target.client.get(RESOURCE.service, { namespace: target.namespace, name });
  return String((service as { spec?: { clusterIP?: string } }).spec?.clusterIP);
}

/** Calls `look` until `signal` says stop. An API server that is away changes nothing: the last picture stays. */
export async function repeatLook(look: () => Promise<void>, periodMs: number, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    await look().catch(() => undefined);
    await sleep(periodMs, undefined, { signal }).catch(() => undefined);
  }
}
