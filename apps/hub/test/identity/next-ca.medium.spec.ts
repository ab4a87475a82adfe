/**
 * 03 "Identity and trust": a new CA is announced in Welcome before it is used. Real TLS, real agents: those that heard of it
 * find the hub again without a touch, one that did not is told what to do, and keeps its identity.
 */
import { X509Certificate } from 'node:crypto';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';

import { NextCaTeller } from '../../src/features/agent-link/index.ts';
import type { TlsFiles } from '../../src/platform/config/hub-config.ts';
import { loadOwnTls } from '../../src/platform/tls/tls-material.ts';
import { createTestDatabase, startTestHub, type TestHub } from '../start-test-hub.ts';
import { IdentityWorld } from './identity-world.ts';
import { WAIT } from '../wait.ts';

let hub: TestHub;
let folder: string;
let databaseUrl: string;
let [a, b]: TlsFiles[] = [];
const worlds: IdentityWorld[] = [];

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'atoll-next-ca-'));
  databaseUrl = await createTestDatabase();
  [a, b] = await Promise.all(
    ['a', 'b'].map(async (name) => (await loadOwnTls(join(folder, name), ['127.0.0.1'], Date.now())).files),
  );
  hub = await startTestHub(databaseUrl, { tlsFiles: filesOf(a) });
});
afterAll(async () => {
  await Promise.all(worlds.map((world) => world.stop()));
  await hub.close();
  await rm(folder, { recursive: true, force: true });
});

function filesOf(files: TlsFiles | undefined): TlsFiles {
  if (files === undefined) throw new Error('no files yet');
  return files;
}
async function fingerprintOf(files: TlsFiles | undefined): Promise<string> {
  const { fingerprint256 } = new X509Certificate(await readFile(filesOf(files).caFile));
  return `hubCa:${fingerprint256.replaceAll(':', '').toLowerCase()}`;
}

async function startWorld(at: TestHub = hub): Promise<IdentityWorld> {
  const world = await IdentityWorld.start(at);
  worlds.push(world);
  return world;
}

/** The same hub again, at the same address. */
async function restart(options: Parameters<typeof startTestHub>[1]): Promise<void> {
  const agentPort = Number(hub.ready.agentAddress.split(':')[1]);
  await hub.close();
  hub = await startTestHub(databaseUrl, { ...options, agentPort });
}
const readWithoutNextCa = async (): Promise<number> =>
  (await hub.runtime.metrics.agentsWithoutNextCa.get()).values[0]?.value ?? -1;
const withoutNextCa = async (): Promise<number> => {
  await hub.app.get(NextCaTeller).look({ served: false, nextCa: false });
  return readWithoutNextCa();
};

describe('a CA that the hub will use later', () => {
  let heard: IdentityWorld;
  let away: IdentityWorld;
  let enrolledMeanwhile: IdentityWorld;

  it('is told to every agent that comes, and the hub knows who lacks it', async () => {
    [heard, away] = [await startWorld(), await startWorld()];
    await away.link.stop();
    await restart({ tlsFiles: filesOf(a), nextCaFile: filesOf(b).caFile });
    // Whoever reads it right after the start must not take "not counted yet" for "nobody lacks it".
    expect(await readWithoutNextCa()).not.toBe(0);
    await vi.waitFor(async () => expect(await readWithoutNextCa()).toBeGreaterThan(0), WAIT);
    const both = [await fingerprintOf(a), await fingerprintOf(b)];
    await vi.waitFor(async () => expect(await heard.casAtHub(hub)).toEqual(both), WAIT);
    expect(await away.casAtHub(hub)).toEqual(both.slice(0, 1));
    expect(await withoutNextCa()).toBe(1);
  });

  it('is handed to whoever enrols meanwhile, beside the present one', async () => {
    enrolledMeanwhile = await startWorld();
    expect(await enrolledMeanwhile.casAtHub(hub)).toEqual([await fingerprintOf(a), await fingerprintOf(b)]);
    expect(await withoutNextCa()).toBe(1);
  });

  it('is taken by the agents that know it when the hub uses it, without a touch', async () => {
    await restart({ tlsFiles: filesOf(b) });
    await Promise.all([heard, enrolledMeanwhile].map((world) => world.untilConnected()));
  });

  it('does not cost them the replicas that still use the old one', async () => {
    const old = await startTestHub(databaseUrl, { tlsFiles: filesOf(a) });
    await heard.link.stop();
    heard.run({ hubAddress: old.ready.agentAddress });
    await heard.untilConnected();
    await heard.link.stop();
    await old.close();
    heard.run();
    await heard.untilConnected();
  });

  it('is unknown to the agent that was away, which says what to do; given the CA it comes back as who it was', async () => {
    away.run();
    await vi.waitFor(() => expect(away.link.state().lastFailure).toMatch(/^HUB_CA_UNKNOWN: .*hub\.ca/), WAIT);
    await away.link.stop();
    const hubCa = await readFile(filesOf(b).caFile, 'utf8');
    away.run({ hubCa });
    await away.untilConnected();
    await away.link.stop();
    away.run({ hubCa: '' });
    await away.untilConnected();
    expect((await away.secret())['hub-ca.crt']).toBe(hubCa);
  });

  it('is the only one that is trusted a week after it was first used', async () => {
    const ca = await readFile(filesOf(b).caFile, 'utf8');
    heard.jump(8);
    await vi.waitFor(async () => expect((await heard.secret())['hub-ca.crt']).toBe(ca), WAIT);
    await heard.link.stop();
    heard.run();
    await vi.waitFor(async () => expect(await heard.casAtHub(hub)).toEqual([await fingerprintOf(b)]), WAIT);
  });

  it('reaches sessions that live on when it appears', async () => {
    const { files } = await loadOwnTls(join(folder, 'c'), ['127.0.0.1'], Date.now());
    const nextCaCertificate = await readFile(files.caFile, 'utf8');
    Object.assign(hub.runtime.tls, { nextCaCertificate });
    await hub.app.get(NextCaTeller).look({ served: false, nextCa: true });
    await vi.waitFor(async () => expect(await heard.casAtHub(hub)).toContain(await fingerprintOf(files)), WAIT);
    await vi.waitFor(async () => expect(await withoutNextCa()).toBe(0), WAIT);
  });
});
