import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import type { RuleMember } from './rule-member.ts';
import { RuleWorld } from './rule-world.ts';

/** The definition of release 0.1.0, which knows no `auth`. */
const OLD_DEFINITION = 'f7832b393759c6521f7312178b3c7f4872c4d9c0b5172aeb6f26abccacde1455';
const OLD_SPEC = { mode: 'Standalone', size: 1 };
const NEW_SPEC = { ...OLD_SPEC, auth: { enabled: true } };

let world: RuleWorld;
beforeAll(async () => {
  world = await RuleWorld.start();
});
afterAll(() => world.close());

/** What the API server of an older definition answers to a field it does not know. */
function refuseUnknownField(member: RuleMember): void {
  member.kube.inject({
    when: ({ method, path, body }) => method === 'PATCH' && path.includes('/redisclusters/') && body.includes('"auth"'),
    act: {
      kind: 'status',
      code: 500,
      reason: 'InternalError',
      message:
        'failed to create typed patch object (default/cache; redis.atoll.dev/v1alpha1, Kind=RedisCluster): .spec.auth: field not declared in schema',
    },
    times: Infinity,
  });
}

describe.concurrent('rule 14, skew: a spec that is newer than the definition in the member cluster', () => {
  it('a spec that the definition there cannot hold is withheld as CRD_TOO_OLD; the object stays as it is', async () => {
    const member = await world.addMember({ run: false });
    member.parts = { crdSchemaHash: () => OLD_DEFINITION };
    await world.enrolByItself(member);
    const wanted = await world.deliver(member, 'cache', OLD_SPEC);
    const writes = member.writes();
    const newer = await world.revise(member, wanted, NEW_SPEC);
    await world.untilDelivery(newer, 'WAITING CRD_TOO_OLD');
    // It holds up nothing else.
    await world.deliver(member, 'other', OLD_SPEC);
    expect(member.writes().filter((write) => write.endsWith('cache'))).toEqual(writes);
    expect((await member.find('cache'))?.spec).toEqual(OLD_SPEC);
    // The definitions are upgraded: the next session brings it.
    await member.stop();
    member.parts = { crdSchemaHash: () => 'a newer one' };
    member.run();
    await world.untilDelivery(newer, 'APPLIED');
    expect((await member.find('cache'))?.spec).toEqual(NEW_SPEC);
    await world.untilInSync(member);
  });

  it('server-side apply with an unknown field fails whole: the agent reports it as REJECTED, not retryable', async () => {
    const member = await world.addMember();
    const wanted = await world.deliver(member, 'cache', OLD_SPEC);
    refuseUnknownField(member);
    const newer = await world.revise(member, wanted, NEW_SPEC);
    await world.untilDelivery(newer, 'REJECTED CRD_TOO_OLD');
    const rows = await world.query('SELECT retryable, message FROM delivery WHERE hub_uid = $1', [wanted.hubUid]);
    expect(rows).toMatchObject([{ retryable: false, message: expect.stringContaining('.spec.auth') as string }]);
    expect((await member.find('cache'))?.spec).toEqual(OLD_SPEC);
    await world.untilInSync(member);
  });
});
