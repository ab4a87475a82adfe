/**
 * A flood from one address against agents of another: real sockets, real TLS, real handshakes. The flood opens connections,
 * says nothing on them, leaves them soon and opens others: more than the hub ever lets in. 127.0.0.2 is another address of
 * the same machine.
 */
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';

import { type Enrolled, enrolAgent } from '../../../../test/link-fixture.ts';
import { createTestDatabase, startTestHub, type TestHub } from '../../../../test/start-test-hub.ts';
import { TestAgent } from '../../../../test/test-agent.ts';
import { WAIT } from '../../../../test/wait.ts';

const FLOOD = 1_500;
const AGENTS = 5;
/** Slow enough that the flood itself does not fill this process, which plays all sides. */
const REOPEN_MS = 1_000;
const STAY_MS = 1_500;

let hub: TestHub;
beforeAll(async () => {
  hub = await startTestHub(await createTestDatabase());
});
afterAll(() => hub.close());

/** Returns the way to end it. */
function flood(port: number): () => void {
  const sockets = new Set<Socket>();
  let isOver = false;
  const open = (): void => {
    if (isOver) return;
    const socket = connect({ port, host: '127.0.0.1', localAddress: '127.0.0.1' });
    sockets.add(socket);
    socket.on('error', () => undefined);
    const leave = setTimeout(() => socket.destroy(), STAY_MS);
    socket.once('close', () => {
      clearTimeout(leave);
      sockets.delete(socket);
      setTimeout(open, REOPEN_MS);
    });
  };
  for (let at = 0; at < FLOOD; at += 1) open();
  return () => {
    isOver = true;
    for (const socket of sockets) socket.destroy();
  };
}

async function countDrops(): Promise<number> {
  const { values } = await hub.runtime.metrics.admissionDrops.get();
  return values.reduce((sum, { value }) => sum + value, 0);
}

describe('agents, while another address floods their hub', () => {
  it('get in at the first try, each of them', { timeout: 60_000 }, async () => {
    const enrolled: Enrolled[] = [];
    for (let at = 0; at < AGENTS; at += 1) enrolled.push(await enrolAgent(hub));
    const end = flood(Number(hub.ready.agentAddress.split(':').at(-1)));
    try {
      await vi.waitFor(async () => expect(await countDrops()).toBeGreaterThan(0), WAIT);
      const before = await countDrops();
      for (const { identity } of enrolled) {
        const agent = await TestAgent.connect(hub, identity, { localAddress: '127.0.0.2', patienceMs: 15_000 });
        agent.hello();
        await agent.next('Welcome', 15_000);
        agent.close();
        await sleep(20);
      }
      // The flood was on all the time.
      await vi.waitFor(async () => expect(await countDrops()).toBeGreaterThan(before), WAIT);
    } finally {
      end();
    }
  });
});
