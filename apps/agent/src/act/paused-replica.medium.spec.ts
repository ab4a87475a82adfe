/**
 * CLIENT PAUSE WRITE on real servers: it outlives a change of role, and holds back what a replica is sent while its link
 * says up. Whoever fences a primary and then demotes it must end the pause, and one that was left behind must be seen.
 */
import { Redis } from 'ioredis';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { startSentinelSet } from '#testing';
import type { SentinelSet } from '#testing';
import { ensureEnginePrograms } from '../../../../tools/local-kubernetes/index.ts';

const PAUSE_MS = 60_000;
const PATIENCE = { timeout: 10_000, interval: 50 };
const cleanups: (() => unknown)[] = [];

afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

interface Pair {
  readonly primary: SentinelSet['data'][number];
  readonly other: SentinelSet['data'][number];
  readonly client: Redis;
}

const ENGINES = ['redis:7.0', 'redis:8.0', 'valkey:8.1'] as const;

const startPair = async (engine: (typeof ENGINES)[number]): Promise<Pair> => {
  const programs = await ensureEnginePrograms(engine);
  if ('unavailable' in programs) throw new Error(programs.reason);
  const server = programs('redis-server');
  const set = await startSentinelSet({ server, size: 2, sentinels: 0, downAfterMs: 5_000, masterName: 'pair' });
  cleanups.push(() => set.stop());
  const [primary, other] = set.data;
  if (primary === undefined || other === undefined) throw new Error('two nodes were asked for');
  const client = new Redis({ host: '127.0.0.1', port: primary.port });
  cleanups.push(() => client.disconnect());
  const pair = { primary, other, client };
  await untilWritable(pair);
  return pair;
};

/** A primary counts its replicas once a second, and refuses writes until it has counted one. */
const untilWritable = ({ client }: Pair): Promise<void> =>
  vi.waitFor(async () => expect(await client.set('counted', 'a replica')).toBe('OK'), PATIENCE);

const offsetOf = async ({ link }: Pair['other']): Promise<number | undefined> => {
  const facts = await link.probe();
  return facts.reachable ? facts.offsetBytes : undefined;
};

const untilLevel = ({ primary, other }: Pair): Promise<void> =>
  vi.waitFor(async () => expect(await offsetOf(other)).toBe(await offsetOf(primary)), PATIENCE);

describe.each(ENGINES)('a pause of writes on %s', (engine) => {
  it('a fenced rival that is made a replica applies what it is sent', async () => {
    const pair = await startPair(engine);
    const { primary, other } = pair;
    expect(await other.link.replicaOf({ expectRunId: '', primaryHost: '192.0.2.1', primaryPort: 1 })).toMatchObject({
      outcome: 'DONE',
    });
    const alone = { expectRunId: '', onlyIfEmpty: false, onlyIfWaiting: false };
    expect(await other.link.promote(alone)).toMatchObject({ outcome: 'DONE' });
    expect(await other.link.fence('', PAUSE_MS)).toMatchObject({ outcome: 'DONE' });
    const back = { expectRunId: '', primaryHost: '127.0.0.1', primaryPort: primary.port };
    expect(await other.link.replicaOf(back)).toMatchObject({ outcome: 'DONE' });
    await vi.waitFor(async () => expect(await other.link.probe()).toMatchObject({ linkUp: true }), PATIENCE);
    await untilWritable(pair);
    await untilLevel(pair);
  }, 60_000);

  it('a replica that was left paused counts as linked, is told from one that goes on, and goes on when let', async () => {
    const pair = await startPair(engine);
    const { primary, other, client } = pair;
    expect(await other.link.pauseWrites(PAUSE_MS)).toMatchObject({ outcome: 'DONE' });
    await client.set('during', 'the pause');
    await vi.waitFor(async () => {
      const facts = await other.link.probe();
      if (!facts.reachable || (facts.unappliedForMs ?? 0) < 1_000) throw new Error('it is not seen to stand still');
      expect(facts).toMatchObject({ role: 'slave', linkUp: true });
    }, PATIENCE);
    expect(await offsetOf(other)).toBeLessThan((await offsetOf(primary)) ?? 0);
    // What makes it dangerous: the primary still takes writes because of it.
    expect(await client.set('taken', 'for its sake')).toBe('OK');
    expect(await other.link.resumeWrites()).toMatchObject({ outcome: 'DONE' });
    await untilLevel(pair);
    expect(await other.link.probe()).not.toHaveProperty('unappliedForMs');
  }, 60_000);
});
