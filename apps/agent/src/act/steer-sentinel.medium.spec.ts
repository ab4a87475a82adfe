/** On real servers: of two replicas one has just gone without a word, and the Sentinel would choose that one. */
import { afterEach, describe, expect, it, vi } from 'vitest';
import { startSentinelSet } from '#testing';
import type { SentinelSet } from '#testing';
import { ensureEnginePrograms } from '../../../../tools/local-kubernetes/index.ts';
import { steerSentinel } from './steer-sentinel.ts';

const MASTER = 'steered';
const HOST = '127.0.0.1';
const running: { readonly set: SentinelSet; readonly frozen: number }[] = [];

afterEach(async () => {
  for (const { set, frozen } of running.splice(0)) {
    process.kill(frozen, 'SIGCONT');
    await set.stop();
  }
});

const factsOf = async ({ link }: SentinelSet['data'][number]) => {
  const facts = await link.probe();
  if (!facts.reachable) throw new Error('it does not answer');
  return facts;
};

describe('a failover beside a replica that does not live any more', () => {
  it('goes to the living one, which the Sentinel would not have chosen, and leaves no preference behind', async () => {
    const programs = await ensureEnginePrograms('redis:7.0');
    if ('unavailable' in programs) throw new Error(programs.reason);
    const server = programs('redis-server');
    const set = await startSentinelSet({ server, size: 3, sentinels: 3, downAfterMs: 30_000, masterName: MASTER });
    const [primary, ...replicas] = set.data;
    const [sentinel] = set.sentinels;
    // Among equals a Sentinel takes the smallest run id.
    const named = await Promise.all(replicas.map(async (node) => ({ node, facts: await factsOf(node) })));
    named.sort((left, right) => (left.facts.runId < right.facts.runId ? -1 : 1));
    const [gone, living] = named;
    if (!primary || !sentinel || !gone || !living) throw new Error('three nodes were asked for');
    running.push({ set, frozen: gone.node.pid });
    process.kill(gone.node.pid, 'SIGSTOP');
    process.kill(primary.pid, 'SIGKILL');

    const { runId, offsetBytes } = living.facts;
    const followers = [{ link: living.node.link, runId, offsetBytes }];
    const steering = {
      sentinel: sentinel.link,
      masterName: MASTER,
      followers,
      silentHosts: [],
      assertMayWrite: () => undefined,
    };
    const undo = await steerSentinel(steering);
    expect(await sentinel.link.failOver(MASTER, { host: HOST, port: primary.port })).toMatchObject({ outcome: 'DONE' });
    await vi.waitFor(async () => expect(await factsOf(living.node)).toMatchObject({ role: 'master' }), {
      timeout: 10_000,
      interval: 50,
    });
    await undo();
    const facts = await living.node.link.probe(['replica-priority']);
    expect(facts).toMatchObject({ config: { 'replica-priority': '100' } });
  }, 90_000);
});
