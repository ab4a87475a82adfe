/**
 * Three replicas of the built hub behind a balancer, with thirty agents, while people change objects and statuses flow: a
 * fourth replica joins, then all of the first three are replaced one after the other, two by SIGTERM and one by kill -9.
 * Nothing is lost, nothing is applied twice with another content, every agent is back and in step, and a subscriber goes on
 * at another replica from the cursor of its last value.
 */
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import type { HubProcess } from '../../../../tools/fleet/hub-process.ts';
import { createTestDatabase } from '../start-test-hub.ts';
import { keepChanging, settleUnanswered, watchWrites, type Changed } from './fleet-watch.ts';
import { ProcessWorld } from './process-world.ts';
import { WAIT } from '../wait.ts';

const AGENTS = 30;
const WATCH = `subscription W($id: ID!, $after: String) { redisCluster(id: $id, after: $after) {
  cursor redisCluster { spec } } }`;

interface Watched {
  readonly redisCluster: {
    readonly cursor: string;
    readonly redisCluster: { readonly spec: { readonly size: number } } | null;
  };
}

let world: ProcessWorld;
let hubs: HubProcess[] = [];
const complaints: string[] = [];
const objects: Changed[] = [];

beforeAll(async () => {
  world = await ProcessWorld.start(await createTestDatabase());
  hubs = [await world.startHub('one')];
  hubs.push(...(await Promise.all([world.startHub('two'), world.startHub('three')])));
  const [first] = hubs as [HubProcess];
  const members = await Promise.all(
    Array.from({ length: AGENTS }, (_, at) => world.addMember(first, `member-${at + 1}`)),
  );
  for (const one of members) {
    watchWrites(one.member, complaints);
    const { id } = await world.want(first, one, 'cart');
    objects.push({ id, member: one.member, name: 'cart', size: 1, readyPods: 0 });
  }
  for (const { id } of objects) await world.untilSync(first, id, 'IN_SYNC');
}, 120_000);
afterAll(() => world.close());

const sessionsOf = (): (number | undefined)[] => objects.map(({ member }) => member.link.state().sessionNo);
const allConnected = (): Promise<unknown> => Promise.all(world.members.map((member) => world.untilConnected(member)));

/** The size that a subscriber sees last at this hub, from the cursor on; and the cursor after it. */
async function watchUntil(hub: HubProcess, id: string, size: number, after: string | null): Promise<string> {
  const end = AbortSignal.timeout(20_000);
  for await (const { redisCluster } of hub.api.subscribe<Watched>(WATCH, { id, after }, end)) {
    if (redisCluster.redisCluster?.spec.size === size) return redisCluster.cursor;
  }
  throw new Error(`the subscriber never saw size ${size}`);
}

it(
  'a rolling restart under load loses nothing, and a replica that joins cuts nobody',
  { timeout: 120_000 },
  async () => {
    const load = new AbortController();
    const loaded = keepChanging(objects, () => hubs, load.signal);
    const before = sessionsOf();
    const fourth = await world.startHub('four');
    await vi.waitFor(() => expect(objects.every(({ readyPods }) => readyPods > 1)).toBe(true), WAIT);
    expect(sessionsOf()).toEqual(before);

    const [one, two, three] = hubs as [HubProcess, HubProcess, HubProcess];
    for (const [old, signal] of [
      [one, 'SIGTERM'],
      [two, 'SIGKILL'],
      [three, 'SIGTERM'],
    ] as const) {
      hubs = hubs.filter((hub) => hub !== old);
      if (hubs.length < 3)
        hubs.push(old === one ? fourth : await world.startHub(`instead-of-${hubs.length}-${signal}`));
      await world.stopHub(old, signal);
      await allConnected();
    }
    load.abort();
    const { accepted } = await loaded;
    expect(accepted).toBeGreaterThan(AGENTS);

    const [now, other] = hubs as [HubProcess, HubProcess];
    await settleUnanswered(objects, now);
    for (const { id, member, name, size, readyPods } of objects) {
      await world.untilSync(other, id, 'IN_SYNC');
      expect((await member.find(name))?.spec).toMatchObject({ size });
      await vi.waitFor(async () => expect((await world.read(other, id))?.status?.readyPods).toBe(readyPods), WAIT);
    }
    expect(complaints).toEqual([]);
  },
);

it('a subscriber goes on at another replica from the cursor of its last value', { timeout: 60_000 }, async () => {
  const [here, there] = hubs as [HubProcess, HubProcess];
  const [object] = objects as [Changed];
  const cursor = await watchUntil(here, object.id, object.size, null);
  object.size = -1;
  await world.stopHub(here);
  hubs = hubs.slice(1);
  await settleUnanswered([object], there);
  await watchUntil(there, object.id, 3, cursor);
  await allConnected();
});
