/**
 * 03 "Identity and trust": keys rotate monthly by a message signed with the old key, nothing expires, and whatever is lost on
 * the way nobody is locked out, and no two keys are accepted for longer than it takes to use the new one.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi, type TestContext } from 'vitest';

import { SessionRepository } from '../../src/features/agent-link/sessions/session.repository.ts';
import { LiveSessions } from '../../src/features/agent-link/connections/live-sessions.ts';
import { loadOwnTls } from '../../src/platform/tls/tls-material.ts';
import { createTestDatabase, startTestHub, type TestHub } from '../start-test-hub.ts';
import { IdentityWorld } from './identity-world.ts';
import { WAIT } from '../wait.ts';

let hub: TestHub;
let folder: string;
let databaseUrl: string;
type RotateKey = SessionRepository['rotateKey'];
/** What the hub does once in place of its booking, by agent. */
const instead = new Map<string, (book: () => ReturnType<RotateKey>) => ReturnType<RotateKey>>();
let booked: string[] = [];

async function startHubWith(options: Parameters<typeof startTestHub>[1]): Promise<void> {
  hub = await startTestHub(databaseUrl, options);
  const sessions = hub.app.get(SessionRepository);
  const rotate = sessions.rotateKey.bind(sessions);
  sessions.rotateKey = (agentId, sessionNo, change) => {
    const other = instead.get(agentId);
    instead.delete(agentId);
    booked.push(agentId);
    const book = (): ReturnType<RotateKey> => rotate(agentId, sessionNo, change);
    return other === undefined ? book() : other(book);
  };
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'atoll-keys-'));
  const { files } = await loadOwnTls(folder, ['127.0.0.1'], Date.now());
  databaseUrl = await createTestDatabase();
  await startHubWith({ tlsFiles: files });
});
afterAll(async () => {
  await hub.close();
  await rm(folder, { recursive: true, force: true });
});

async function startWorld({ onTestFinished }: TestContext): Promise<IdentityWorld & { readonly first: string }> {
  const world = await IdentityWorld.start(hub);
  onTestFinished(() => world.stop());
  return Object.assign(world, { first: (await world.keysAtHub(hub)).current ?? '' });
}

const endSession = (world: IdentityWorld): void =>
  hub.app
    .get(LiveSessions)
    .all.find(({ agentId }) => agentId === world.agentId)
    ?.end('RESTART');
const FORBIDDEN = { kind: 'status', code: 403, reason: 'Forbidden' } as const;

describe.concurrent('the key of an agent', () => {
  it('is changed in the middle of a session that lives on; the old one is let go of without a new Hello', async (context) => {
    const world = await startWorld(context);
    const { sessionNo } = world.link.state();
    world.jump(31);
    await world.untilRotatedFrom(hub, world.first);
    expect(world.link.state().sessionNo).toBe(sessionNo);
  });

  it('is changed although the hub never booked it at the first time', async (context) => {
    const world = await startWorld(context);
    instead.set(world.agentId, () => {
      endSession(world);
      return Promise.resolve(false);
    });
    world.jump(31);
    await world.untilRotatedFrom(hub, world.first);
  });

  it('is changed although the hub booked it and the answer was lost', async (context) => {
    const world = await startWorld(context);
    instead.set(world.agentId, async (book) => {
      const isBooked = await book();
      endSession(world);
      return isBooked;
    });
    world.jump(31);
    await vi.waitFor(async () => expect((await world.keysAtHub(hub)).previous).toBe(world.first), WAIT);
    await world.untilRotatedFrom(hub, world.first);
  });

  it('is changed as soon as the Secret can be written; the session goes on meanwhile', async (context) => {
    const world = await startWorld(context);
    const { sessionNo } = world.link.state();
    world.hurtSecret(3, FORBIDDEN);
    world.jump(31);
    await world.untilRotatedFrom(hub, world.first);
    const { current: second } = await world.keysAtHub(hub);
    instead.set(world.agentId, (book) => {
      world.hurtSecret(3, FORBIDDEN);
      return book();
    });
    world.jump(31);
    await world.untilRotatedFrom(hub, second);
    expect(world.link.state().sessionNo).toBe(sessionNo);
    expect(world.logged.join('\n')).toContain('could not be renewed');
  });

  it('is changed although the API server wrote it and did not say so', async (context) => {
    const world = await startWorld(context);
    world.hurtSecret(2, { kind: 'drop-after' });
    world.jump(31);
    await world.untilRotatedFrom(hub, world.first);
  });

  it('is good after the agent was killed before it could store what the hub accepted', async (context) => {
    const world = await startWorld(context);
    instead.set(world.agentId, (book) => {
      world.kube.fence = false;
      return book();
    });
    world.jump(31);
    await vi.waitFor(async () => expect((await world.keysAtHub(hub)).previous).toBe(world.first), WAIT);
    await world.link.stop();
    world.kube.fence = true;
    world.run({ instanceId: 'i2' });
    await world.untilRotatedFrom(hub, world.first);
  });

  it('is good after the agent was killed when it had stored the new one and not used it', async (context) => {
    const world = await startWorld(context);
    // The first use is the hub's second look at this agent's keys.
    const sessions = hub.app.get(SessionRepository);
    const forget = sessions.forgetPreviousKey.bind(sessions);
    sessions.forgetPreviousKey = async (agentId, used) => {
      if (agentId !== world.agentId) return forget(agentId, used);
      sessions.forgetPreviousKey = forget;
      await world.link.stop();
    };
    world.jump(31);
    await vi.waitFor(() => expect(world.link.state().running).toBe(false), WAIT);
    expect((await world.keysAtHub(hub)).previous).toBe(world.first);
    world.run({ instanceId: 'i2' });
    await world.untilRotatedFrom(hub, world.first);
  });

  it('can still be changed when a new one that the hub had booked was lost with its Secret', async (context) => {
    const world = await startWorld(context);
    const [signer, newKey] = [Buffer.from(world.first, 'base64url'), Buffer.alloc(32, 7)];
    const { sessionNo = 0 } = world.link.state();
    expect(await hub.app.get(SessionRepository).rotateKey(world.agentId, sessionNo, { signer, newKey })).toBe(true);
    world.jump(31);
    await world.untilRotatedFrom(hub, newKey.toString('base64url'));
    expect((await world.keysAtHub(hub)).current).not.toBe(world.first);
  });

  it("is known again after the hub's database was restored to the day before", async (context) => {
    const world = await startWorld(context);
    world.jump(31);
    await world.untilRotatedFrom(hub, world.first);
    const { current: second } = await world.keysAtHub(hub);
    await hub.runtime.dataSource.query('UPDATE agent SET public_key = $2, previous_public_key = NULL WHERE id = $1', [
      world.agentId,
      Buffer.from(world.first, 'base64url'),
    ]);
    endSession(world);
    await world.untilRotatedFrom(hub, world.first);
    expect((await world.keysAtHub(hub)).current).toBe(second);
  });
});

describe('a hub that was away for a year', () => {
  it('accepts the old key, and changes it once', async (context) => {
    const world = await startWorld(context);
    const { agentAddress } = hub.ready;
    const { files } = hub.runtime.tls;
    await hub.close();
    await vi.waitFor(() => expect(world.link.state().connected).toBe(false), WAIT);
    world.jump(365);
    booked = [];
    await startHubWith({ tlsFiles: files, agentPort: Number(agentAddress.split(':')[1]) });
    await world.untilRotatedFrom(hub, world.first);
    const settled = await world.keysAtHub(hub);
    await new Promise((done) => setTimeout(done, 300));
    expect(booked).toEqual([world.agentId]);
    expect(await world.keysAtHub(hub)).toEqual(settled);
  });
});
