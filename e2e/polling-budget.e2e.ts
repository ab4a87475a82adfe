/**
 * What an agent at rest asks of its servers (docs/reference/polling.md), counted between it and real ones: the bundle as it is
 * released, a Kubernetes API without pods, and every command recorded on its way.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { claimPort, RecordingProxy, type RecordedCommand } from '#testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { AgentProcess } from '../bench/operator/agent-process.ts';
import { ScriptedMember } from '../bench/operator/scripted-member.ts';
import { ensureEnginePrograms } from '../tools/local-kubernetes/index.ts';

const DATA_PODS = 3;
const COUNTED_MS = 12_000;
/** Commands a second at each data pod: four every 10 s, spread by a fifth. */
const BUDGET = 0.5;
const ASKED = new Set(['INFO SERVER', 'CONFIG GET', 'ACL LIST']);

let member: ScriptedMember;
let proxy: RecordingProxy;
let agent: AgentProcess;
let folder: string;

beforeAll(async () => {
  const engine = await ensureEnginePrograms('redis:8.0', () => undefined);
  if (typeof engine !== 'function') throw new Error(engine.reason);
  folder = await mkdtemp(join(tmpdir(), 'atoll-polling-'));
  member = await ScriptedMember.start(engine('redis-server'));
  proxy = await RecordingProxy.start();
  agent = new AgentProcess(await member.writeKubeconfig(), await claimPort(), join(folder, 'agent.log'), {
    ATOLL_TEST_REDIS_PROXY: `127.0.0.1:${proxy.port}`,
  });
  await agent.ready();
});
afterAll(async () => {
  await agent.stop();
  await member.stop();
  await proxy.stop();
  await rm(folder, { recursive: true, force: true });
});

async function untilReady(count: number): Promise<void> {
  for (let made = member.countPhase('Ready'); made < count; made += 1) {
    member.createRedisCluster('shop', `r-${made}`, {
      engine: { type: 'Redis', version: '8.0' },
      mode: 'Replication',
      size: DATA_PODS,
      resources: { requests: { memory: '64Mi', cpu: '20m' }, limits: { memory: '192Mi' } },
    });
  }
  while (member.countPhase('Ready') < count) await sleep(200);
  // What a creation still has to settle is not rest.
  for (let from = -1; from < 0 || proxy.commands.slice(from).some((each) => !ASKED.has(textOf(each)));) {
    from = proxy.commands.length;
    await sleep(4_000);
  }
}

const textOf = ({ words }: RecordedCommand): string => words.slice(0, 2).join(' ').toUpperCase();

async function count(): Promise<readonly RecordedCommand[]> {
  const from = proxy.commands.length;
  await sleep(COUNTED_MS);
  return proxy.commands.slice(from);
}

describe('an agent at rest', () => {
  it.each([1, 5])('asks each data pod of %i RedisClusters half a command a second at most', async (clusters) => {
    await untilReady(clusters);
    const commands = await count();
    const asked = commands.map(textOf);
    expect(asked.filter((each) => !ASKED.has(each))).toEqual([]);
    // A look that had begun before, or just began, makes one more at each pod.
    const looks = 4 * DATA_PODS * clusters;
    expect(commands.length).toBeLessThanOrEqual((BUDGET * DATA_PODS * clusters * COUNTED_MS) / 1_000 + looks);
    expect(commands.length).toBeGreaterThanOrEqual(looks / 2);
    // One after the other, not all at once.
    const seconds = new Set(commands.map(({ atMs }) => Math.floor(atMs / 1_000)));
    if (clusters > 1) expect(seconds.size).toBeGreaterThan(1);
  });
});
