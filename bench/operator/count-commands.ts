/**
 * What an agent at rest asks of its data pods, counted by the servers themselves: INFO, CONFIG GET and ACL LIST, which
 * nobody else here sends them. Sentinel asks for INFO too, so with Sentinels around the other two stand for all.
 */
import { Redis } from 'ioredis';
import { REDIS_PORT } from '#domain';
import type { ScriptedMember } from './scripted-member.ts';

/** Of the four commands of a look, those that the agent alone sends. */
const ONLY_OURS = ['config\\|get', 'acl\\|list'];
const OF_A_LOOK = 4;
const OURS_OF_A_LOOK = 3;

export interface DataPod {
  readonly host: string;
  readonly username: string;
  readonly password: string;
}

/** The data pods of this RedisCluster, with a login. */
export function dataPodsOf(member: ScriptedMember, namespace: string, name: string): DataPod[] {
  const { username, password } = member.connection(namespace, name);
  return member.addresses(namespace, name, 'redis').map((host) => ({ host, username, password }));
}

/** Commands of looks that these servers have answered so far. */
export async function countCommands(pods: readonly DataPod[]): Promise<number> {
  const counts = await Promise.all(pods.map(countAt));
  return (counts.reduce((sum, count) => sum + count, 0) / OURS_OF_A_LOOK) * OF_A_LOOK;
}

async function countAt({ host, username, password }: DataPod): Promise<number> {
  const redis = new Redis({ host, port: REDIS_PORT, username, password, lazyConnect: true, disableClientInfo: true });
  try {
    await redis.connect();
    const stats = await redis.info('commandstats');
    const callsOf = (command: string): number =>
      Number(new RegExp(`^cmdstat_${command}:calls=(\\d+)`, 'm').exec(stats)?.[1] ?? 0);
    return ONLY_OURS.reduce((sum, command) => sum + callsOf(command), 0);
  } finally {
    redis.disconnect();
  }
}
