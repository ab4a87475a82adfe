/** Setting aside on real servers: a Sentinel must not erase the copy while it is being saved. */
import { setTimeout as sleep } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { afterEach, describe, expect, it } from 'vitest';
import { startSentinelSet } from '#testing';
import type { SentinelSet } from '#testing';
import { ensureEnginePrograms } from '../../../../tools/local-kubernetes/index.ts';

const MASTER = 'medium-2';
const LOGIN = { username: 'sentinel', password: 'of-a-test' };
const FILE = 'set-aside-redis-1-abcdef01-1.rdb';
/** Sentinel demotes a second primary 8 s after it was first seen. */
const SAVE_S = 20;
const running: SentinelSet[] = [];

afterEach(async () => {
  await Promise.all(running.splice(0).map((set) => set.stop()));
});

describe('setting aside a second primary under Sentinel', () => {
  it('a save that takes longer than Sentinel waits is not cut off by a demotion', async () => {
    const programs = await ensureEnginePrograms('redis:7.0');
    if ('unavailable' in programs) throw new Error(programs.reason);
    const set = await startSentinelSet({
      server: programs('redis-server'),
      ...{ size: 2, sentinels: 3, downAfterMs: 5_000, masterName: MASTER },
      config: [
        'enable-protected-configs yes',
        `user ${LOGIN.username} on >${LOGIN.password} allkeys allchannels +@all`,
        'min-replicas-to-write 0',
      ],
    });
    running.push(set);
    for (const { link } of set.sentinels) expect(await link.setLogin(MASTER, LOGIN)).toMatchObject({ outcome: 'DONE' });
    const rival = set.data[1];
    if (rival === undefined) throw new Error('There is no second node.');
    const redis = new Redis({ host: '127.0.0.1', port: rival.port });
    redis.on('error', () => undefined);
    await redis.replicaof('NO', 'ONE');
    for (let number = 0; number < SAVE_S * 10; number += 1) await redis.set(`own:${number}`, '1');
    await redis.config('SET', 'rdb-key-save-delay', '100000');
    const kept = await rival.link.setAside('', FILE, 60_000);
    await sleep(500);
    const facts = await rival.link.probe();
    redis.disconnect();
    expect(kept).toEqual({ outcome: 'DONE' });
    expect(facts).toMatchObject({ role: 'master', keys: SAVE_S * 10 });
  }, 90_000);
});
