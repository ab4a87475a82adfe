import { Redis } from 'ioredis';
import type { Connection, Member } from './watch-members.ts';

const BATCH = 500;

/** The keys that this server does not have. Rejects when it cannot be asked: that proves nothing about the keys. */
export async function findMissing(redis: Redis, keys: readonly string[]): Promise<string[]> {
  const missing: string[] = [];
  for (let start = 0; start < keys.length; start += BATCH) {
    const batch = keys.slice(start, start + BATCH);
    const pipeline = redis.pipeline();
    for (const key of batch) pipeline.exists(key);
    const answers = (await pipeline.exec()) ?? [];
    batch.forEach((key, index) => {
      const [error, exists] = answers[index] ?? [new Error('no answer'), 0];
      if (error) throw error;
      if (exists === 0) missing.push(key);
    });
  }
  return missing;
}

/** As findMissing, by a connection of its own to one pod. */
export async function findMissingAt(
  member: Member,
  connection: Connection,
  keys: readonly string[],
): Promise<string[]> {
  const { username, password, port } = connection;
  const redis = new Redis({ host: member.host, port, username, password, connectTimeout: 2_000 });
  redis.on('error', () => undefined);
  try {
    return await findMissing(redis, keys);
  } finally {
    redis.disconnect();
  }
}
