/**
 * Contract of the simulated agent with the real one: both hold the same ten objects, lose their hub, and are asked the
 * same by the next. What they say must be the same, frame by frame, or the bench would measure a hub that nobody has.
 */
import { createSecureContext } from 'node:tls';
import { freezeSpec, publicKeyOf, type AgentMessage, type Upsert } from '#protocol';
import { FakeHub, LinkWorld, sendDelta, type FakeSession } from '#testing';
import { afterEach, expect, it } from 'vitest';
import { Link } from '../../../apps/agent/src/link/index.ts';
import { API_VERSION_OF_ALL, fleetId, frozenSpecOfSlot, objectOf, privateKeyOf, specOfSlot } from '../fleet-model.ts';
import { BeatWheel } from './beat-wheel.ts';
import { FleetTally } from './fleet-tally.ts';
import { SimulatedAgent } from './simulated-agent.ts';

const ends: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

const REVISION = 10;
const upsertOf = (slot: number, hubGeneration: number, spec = frozenSpecOfSlot(slot)): Upsert => {
  const { hubUid, namespace, name } = objectOf(0, slot);
  const version = { hubUid, hubGeneration, specHash: spec.hash, spec: spec.text };
  const place = { namespace, name, apiVersion: API_VERSION_OF_ALL, kind: 'RedisCluster' };
  return { ...version, ...place, create: true, adopt: false, driftPolicy: 'Report' };
};
const everything = Array.from({ length: REVISION }, (_, slot) => upsertOf(slot, 1));
const changed = upsertOf(0, 2, freezeSpec({ ...specOfSlot(0), config: { 'maxmemory-policy': 'noeviction' } }));

/** A real link that has applied everything, and its hub. */
async function startReal(): Promise<FakeHub> {
  const world = await LinkWorld.start();
  ends.push(() => world.stop());
  world.run(new Link(world.settings(), world.parts()));
  const ack = await sendDelta(await world.hub.nextSession(), REVISION, everything);
  expect(ack.outcomes.map(({ state }) => state)).toEqual(everything.map(() => 'APPLIED'));
  await world.hub.kill();
  await world.hub.listen();
  return world.hub;
}

/** A simulated agent, which begins with everything applied, and its hub. */
async function startSimulated(): Promise<FakeHub> {
  const hub = await FakeHub.start();
  hub.agents.set(fleetId('agent', 0), publicKeyOf(privateKeyOf(0)));
  const wheel = new BeatWheel(hub.limits.heartbeatIntervalMs);
  const world = {
    hubAddress: hub.address,
    secureContext: createSecureContext({ ca: hub.certificates.caPem }),
    wheel,
    tally: new FleetTally(1),
    onApplied: () => undefined,
  };
  const agent = new SimulatedAgent(0, world, { hubEpoch: hub.hubEpoch, revision: REVISION });
  ends.push(
    () => hub.kill(),
    () => wheel.stop(),
    () => agent.stop(),
  );
  agent.dial();
  return hub;
}

/** The conversation: one session in which the hub cannot confirm the status, then changes one object. */
async function converse(
  hub: FakeHub,
): Promise<{ readonly session: FakeSession; readonly said: readonly AgentMessage[] }> {
  const session = await hub.nextSession();
  await session.connection.next('StatusBatch', (batch) => batch.complete === true);
  await sendDelta(session, REVISION + 1, [changed]);
  return { session, said: [...session.connection.received] };
}

const shapeOf = (message: AgentMessage): string => `${message.type} ${Object.keys(message.payload).sort().join(' ')}`;
const only = (said: readonly AgentMessage[], type: AgentMessage['type']): readonly AgentMessage['payload'][] =>
  said.filter((message) => message.type === type).map(({ payload }) => payload);
/** Kubernetes uids are made by each API server. */
const withoutUids = (acks: readonly AgentMessage['payload'][]): unknown =>
  JSON.parse(JSON.stringify(acks), (name, value: unknown) => (name === 'uid' ? typeof value : value));

it('says what the real agent says, frame by frame', async () => {
  const real = await converse(await startReal());
  const simulated = await converse(await startSimulated());
  expect(simulated.said.map(shapeOf)).toEqual(real.said.map(shapeOf));
  const { appliedRevision, specDigest, protocolVersions, inventory } = real.session.hello;
  expect(simulated.session.hello).toMatchObject({ appliedRevision, specDigest, protocolVersions, inventory });
  expect(withoutUids(only(simulated.said, 'DesiredAck'))).toEqual(withoutUids(only(real.said, 'DesiredAck')));
}, 30_000);

it('comes back after its hub was killed, and says that nothing has changed', async () => {
  const hub = await startSimulated();
  const proofOf = async ({ connection }: FakeSession): Promise<unknown> =>
    (await connection.next('StatusBatch', ({ statusDigest }) => statusDigest !== undefined)).statusDigest;
  const first = await hub.nextSession();
  const proof = await proofOf(first);
  await hub.kill();
  await hub.listen();
  const second = await hub.nextSession();
  expect(second.hello).toMatchObject({ hubEpoch: hub.hubEpoch, appliedRevision: REVISION });
  expect(await proofOf(second)).toBe(proof);
}, 30_000);
