/**
 * A member cluster whose etcd was restored to yesterday: objects and the agent's own memory (applied revision, tombstones) are
 * older than what the hub has booked. Nothing is deleted or made by itself; what was deleted meanwhile is UNCLAIMED.
 */
import { AGENT_STATE_CONFIG_MAP, FIELD_MANAGER } from '#domain';
import type { KubeObject } from '#domain';
import { RESOURCE } from '#kube';
import { afterEach, describe, expect, it, vi } from 'vitest';

import type { Wanted } from '../link-fixture.ts';
import { NAMESPACE, type RuleMember } from '../rules/rule-member.ts';
import { RuleWorld } from '../rules/rule-world.ts';
import { WAIT } from '../wait.ts';

const STATE = { namespace: 'atoll-system', name: AGENT_STATE_CONFIG_MAP };

let world: RuleWorld;
afterEach(() => world.close());

interface Backup {
  readonly objects: readonly KubeObject[];
  readonly state: unknown;
}

/** Of a member cluster whose agent does not run, so that it has written all it knows. */
async function backUp({ client }: RuleMember): Promise<Backup> {
  const { items } = await client.listAll(RESOURCE.redisCluster);
  return { objects: items, state: (await client.get(RESOURCE.configMap, STATE))['data'] };
}

async function restore({ client }: RuleMember, { objects, state }: Backup): Promise<void> {
  const { items } = await client.listAll(RESOURCE.redisCluster);
  for (const { metadata } of items) {
    await client.delete(RESOURCE.redisCluster, { namespace: NAMESPACE, name: metadata.name });
  }
  for (const { apiVersion, kind, metadata, spec } of objects as readonly (KubeObject & { spec: object })[]) {
    const { name, annotations } = metadata;
    const body = { apiVersion, kind, metadata: { namespace: NAMESPACE, name, annotations }, spec };
    await client.apply(body as never, { fieldManager: FIELD_MANAGER.link });
  }
  await client.patchMerge(RESOURCE.configMap, STATE, { data: state });
}

const sizeOf = async (member: RuleMember, name: string): Promise<unknown> =>
  ((await member.find(name))?.spec as { size?: number } | undefined)?.size;

/** Yesterday: three objects. Since then one was deleted, one changed, one made; then the backup comes back. */
async function liveAndRestore(): Promise<
  { member: RuleMember } & Record<'kept' | 'deleted' | 'changed' | 'made', Wanted>
> {
  world = await RuleWorld.start();
  const member = await world.addMember();
  const [kept, deleted, changed] = [
    await world.want(member, 'kept'),
    await world.want(member, 'deleted'),
    await world.want(member, 'changed', { mode: 'Replication', size: 2 }),
  ];
  for (const each of [kept, deleted, changed]) await world.untilDelivery(each, 'APPLIED');
  await member.stop();
  const yesterday = await backUp(member);
  member.run();
  await world.untilConnected(member);
  await world.unwant(member, deleted);
  await world.untilDelivery(deleted, 'GONE');
  const revised = await world.revise(member, changed, { mode: 'Replication', size: 3 });
  const made = await world.want(member, 'made');
  for (const each of [revised, made]) await world.untilDelivery(each, 'APPLIED');
  await member.stop();
  await restore(member, yesterday);
  member.run();
  await world.untilConnected(member);
  return { member, kept, deleted, changed: revised, made };
}

describe('a member cluster restored from yesterday', () => {
  it('gets today’s spec, keeps what was deleted as UNCLAIMED, and makes nothing anew', async () => {
    const { member, kept, deleted, changed, made } = await liveAndRestore();
    await world.untilDelivery(made, 'DELETED_LOCALLY DELETED_LOCALLY');
    for (const each of [kept, changed]) await world.untilDelivery(each, 'APPLIED');
    await vi.waitFor(async () => expect(await sizeOf(member, 'changed')).toBe(3), WAIT);
    await vi.waitFor(async () => {
      const rows = await world.query<{ claimed: string }>(
        'SELECT hub_uid_claimed AS claimed FROM local_object WHERE agent_id = $1',
        [member.agentId],
      );
      expect(rows).toEqual([{ claimed: deleted.hubUid }]);
    }, WAIT);
    expect(await member.names()).toEqual(['changed', 'deleted', 'kept']);
    // And so it stays, in the sessions after it.
    await member.stop();
    member.run();
    await world.untilConnected(member);
    await world.untilInSync(member, [deleted.hubUid]);
    expect(await member.names()).toEqual(['changed', 'deleted', 'kept']);
    expect(await world.delivery(made)).toBe('DELETED_LOCALLY DELETED_LOCALLY');
  });
});
