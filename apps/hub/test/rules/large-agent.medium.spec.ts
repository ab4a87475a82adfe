/** Thousands of objects in one member cluster: no frame of either side outgrows the limit. */
import { afterAll, beforeAll, expect, it, vi } from 'vitest';

import { freezeSpec } from '#protocol';

import { RuleWorld } from './rule-world.ts';

/** Of names as long as Kubernetes takes them. Inventory and outcomes of so many no longer go in one part; more would show nothing else. */
const OBJECTS = 2_100;
const LONG = 60_000;

let world: RuleWorld;
beforeAll(async () => {
  world = await RuleWorld.start();
});
afterAll(() => world.close());

/** What so many create mutations leave behind. */
async function wantMany(agentId: string, memberClusterId: string, projectId: string): Promise<void> {
  const { text, hash } = freezeSpec({ engine: { type: 'Redis', version: '8.0' }, mode: 'Standalone' });
  await world.query(
    `WITH made AS (
       INSERT INTO resource (hub_uid, project_id, member_cluster_id, agent_id, api_version, kind, namespace, name,
         hub_generation, spec, spec_hash, created_at, updated_at)
       SELECT gen_random_uuid(), $1, $2, $3, 'redis.atoll.dev/v1alpha1', 'RedisCluster', 'default', rpad('many-' || n || '-', 63, 'x'), 1, $4, $5,
         now(), now() FROM generate_series(1, $6) AS n RETURNING hub_uid
     ), told AS (
       INSERT INTO desired_change (agent_id, revision, hub_uid, op) SELECT $3, row_number() OVER (), hub_uid, 'UPSERT' FROM made
     ), head AS (
       UPDATE agent_spec_head SET revision = $6 WHERE agent_id = $3
     )
     INSERT INTO delivery (hub_uid, hub_generation, state, updated_at) SELECT hub_uid, 1, 'PENDING', now() FROM made`,
    [projectId, memberClusterId, agentId, text, hash, OBJECTS],
  );
}

/** Frames of this type that the hub has read. */
const readFrames = async (type: string): Promise<number> => {
  const { values } = await world.hub.runtime.metrics.frames.get();
  return values.find(({ labels }) => labels.type === type)?.value ?? 0;
};

it(
  'an agent of thousands of objects acks its snapshot in parts, and tells its inventory in chunks',
  { timeout: LONG },
  async () => {
    const member = await world.addMember();
    await member.stop();
    const { agentId, memberClusterId, projectId } = member.enrolled;
    await wantMany(agentId, memberClusterId, projectId);
    await member.loseMemory();
    const ackedBefore = await readFrames('DesiredAck');
    member.run();
    const counts = async (): Promise<string> => {
      const rows = await world.query<{ state: string; count: number }>(
        `SELECT d.state, count(*)::int AS count FROM delivery AS d JOIN resource AS r ON r.hub_uid = d.hub_uid
       WHERE r.agent_id = $1 GROUP BY d.state`,
        [agentId],
      );
      return rows.map(({ state, count }) => `${state} ${count}`).join();
    };
    await vi.waitFor(async () => expect(await counts()).toBe(`APPLIED ${OBJECTS}`), { timeout: LONG, interval: 250 });
    await world.untilInSync(member);
    expect((await readFrames('DesiredAck')) - ackedBefore).toBeGreaterThan(1);
    const { sessionNo } = await world.session(member);

    // The hub asks for everything: one frame of it would be above the limit and end the session.
    await world.query('UPDATE agent_spec_head SET inventory_needed = true WHERE agent_id = $1', [agentId]);
    member.proxy.cut();
    await vi.waitFor(async () => expect(await readFrames('InventoryChunk')).toBeGreaterThan(1), { timeout: LONG });
    await world.until(false, async () => {
      const rows = await world.query<{ needed: boolean }>(
        'SELECT inventory_needed AS needed FROM agent_spec_head WHERE agent_id = $1',
        [agentId],
      );
      return rows[0]?.needed ?? true;
    });
    expect(await counts()).toBe(`APPLIED ${OBJECTS}`);
    expect((await world.session(member)).sessionNo).toBe(sessionNo + 1);
  },
);
