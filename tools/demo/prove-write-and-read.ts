import { randomUUID } from 'node:crypto';
import { connectRedis, type Kubectl } from '../fleet/connect-redis.ts';

export interface Proof {
  readonly key: string;
  readonly value: string;
  /** Replicas that had the write when the primary acknowledged it. */
  readonly replicas: number;
}

/** Writes a key at the primary that Sentinel names, waits for a replica, and reads it back on a second connection. */
export async function proveWriteAndRead(kubectl: Kubectl, namespace: string, name: string): Promise<Proof> {
  const writer = await connectRedis(kubectl, namespace, name);
  const reader = await connectRedis(kubectl, namespace, name);
  try {
    const key = 'atoll:demo';
    const value = randomUUID();
    await writer.set(key, value);
    const replicas = Number(await writer.call('WAIT', '2', '5000'));
    const read = await reader.get(key);
    if (read !== value) throw new Error(`${namespace}/${name}: wrote ${value} and read ${read ?? 'nothing'}`);
    return { key, value, replicas };
  } finally {
    writer.disconnect();
    reader.disconnect();
  }
}
