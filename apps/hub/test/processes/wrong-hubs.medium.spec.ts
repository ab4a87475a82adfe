/**
 * Hubs that are wrong on purpose: real builds with a bug, started as processes at the address of the right one, with agents
 * that were in step before. Nothing that a person did not ask to delete may be lost beyond what the agent's own values
 * allow, the reason must be there to be seen, and a right hub must bring everything back in step.
 */
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type { HubProcess } from '../../../../tools/fleet/hub-process.ts';
import { readRedisCluster, type RedisClusterView } from '../../../../tools/fleet/redis-cluster.ts';
import { createTestDatabase } from '../start-test-hub.ts';
import { ProcessWorld, type ProcessMember } from './process-world.ts';
import { makeWrongBuild, type Patch } from './wrong-build.ts';
import { WAIT } from '../wait.ts';

const LINK = 'apps/hub/src/features/agent-link';
/** Every session begins with a snapshot. */
const ALWAYS_SNAPSHOT: Patch = {
  file: `${LINK}/sessions/resume-mode.rules.js`,
  find: `reason: 'IN_STEP'`,
  replaceBy: `reason: 'BUG', mode: 'SNAPSHOT'`,
};
/** Every second object is taken for deleted, and the breaker for having let it through. */
const DELETES_HALF: Patch = {
  file: `${LINK}/desired/desired-target.js`,
  find: `r.deletion,\n  CASE WHEN r.deletion = 'DELETE' THEN \${BREAKER} END AS breaker`,
  replaceBy: `CASE WHEN r.name LIKE 'half-%' THEN 'DELETE' ELSE r.deletion END AS deletion,
  CASE WHEN r.name LIKE 'half-%' THEN 'RELEASED' END AS breaker`,
};
const EMPTY_SNAPSHOT: Patch = {
  file: `${LINK}/desired/desired.repository.js`,
  find: 'revision: heads[0].revision,',
  replaceBy: 'revision: heads[0].revision, rows: [], lost:',
};

/** Two sides that disagree compare once a minute, and the wrong hub may just have done so. */
const COMPARED_MS = 80_000;

const MANY = ['half-1', 'half-2', 'half-3', 'half-4', 'kept-1', 'kept-2', 'kept-3', 'kept-4'];
const FEW = ['half-1', 'half-2', 'kept-1', 'kept-2'];

let world: ProcessWorld;
let right: HubProcess;
let many: ProcessMember;
let few: ProcessMember;
const views = new Map<ProcessMember, readonly RedisClusterView[]>();

beforeAll(async () => {
  world = await ProcessWorld.start(await createTestDatabase());
  right = await world.startHub('right');
  many = await world.addMember(right, 'many');
  few = await world.addMember(right, 'few');
  for (const [member, names] of [
    [many, MANY],
    [few, FEW],
  ] as const) {
    const made = [];
    for (const name of names) made.push(await world.want(right, member, name));
    for (const view of made) await world.untilSync(right, view.id, 'IN_SYNC');
    views.set(member, made);
  }
}, 90_000);
afterAll(() => world.close());

async function whileWrong(
  name: string,
  patches: readonly Patch[],
  look: (wrong: HubProcess) => Promise<void>,
): Promise<void> {
  const programDir = await makeWrongBuild(join(world.folder, `build-${name}`), patches);
  await world.stopHub(right);
  const wrong = await world.startHub(name, { programDir });
  await look(wrong);
  await world.stopHub(wrong, 'SIGKILL');
  right = await world.startHub('right');
  await Promise.all([many, few].map((member) => world.untilConnected(member)));
}

/** A log line of the agent, once it is there. */
const untilLogged = ({ member }: ProcessMember, text: string): Promise<void> =>
  vi.waitFor(() => expect(member.logged.filter((line) => line.includes(text))).not.toEqual([]), WAIT);

describe('a hub that is wrong', () => {
  it(
    'sends an empty snapshot: nothing is deleted, everything is UNCLAIMED and says so',
    { timeout: 60_000 + COMPARED_MS },
    async () => {
      await whileWrong('empty', [ALWAYS_SNAPSHOT, EMPTY_SNAPSHOT], async () => {
        for (const one of [many, few]) await untilLogged(one, 'does not know this object any more');
        expect(many.member.link.state().unclaimedObjects).toBe(MANY.length);
        expect(many.member.warned).toEqual(MANY.map((name) => `Unclaimed ${name}`));
      });
      for (const view of [...(views.get(many) ?? []), ...(views.get(few) ?? [])]) {
        const { delivery } = await world.untilSync(right, view.id, 'IN_SYNC');
        expect(delivery.generation).toBe(view.generation);
      }
      expect([await many.member.names(), await few.member.names()]).toEqual([MANY, FEW]);
      await vi.waitFor(() => expect(many.member.link.state().unclaimedObjects).toBe(0), COMPARED_MS);
      expect(many.member.writes().filter((write) => write.startsWith('DELETE'))).toEqual([]);
    },
  );

  it('has another CA: no agent says a word to it, and the right one has them back', { timeout: 60_000 }, async () => {
    await world.stopHub(right);
    const other = await world.startHub('other', { ownTls: true });
    await vi.waitFor(() => {
      for (const { member } of [many, few]) expect(member.link.state().lastFailure).toMatch(/certificate/);
    }, WAIT);
    expect(many.member.isConnected).toBe(false);
    await world.stopHub(other);
    right = await world.startHub('right');
    for (const one of [many, few]) await world.untilConnected(one);
    expect([await many.member.names(), await few.member.names()]).toEqual([MANY, FEW]);
  });

  // Last: what it deletes is gone.
  it(
    'sends tombstones for half the fleet: an agent takes none of many, and its few at most',
    { timeout: 60_000 },
    async () => {
      await whileWrong('half', [ALWAYS_SNAPSHOT, DELETES_HALF], async () => {
        await untilLogged(many, 'deletes at once without an approval');
        await vi.waitFor(async () => expect(await few.member.names()).toEqual(['kept-1', 'kept-2']), WAIT);
        expect(many.member.link.state().refusedDeletes).toBe(4);
        expect(many.member.warned).toContain('DeletesRefused half-1');
      });
      for (const view of views.get(many) ?? []) await world.untilSync(right, view.id, 'IN_SYNC');
      expect(await many.member.names()).toEqual(MANY);
      // What the agent's own limit let pass is lost, is not made again by itself, and is told for each object.
      expect(few.member.writes().filter((write) => write.startsWith('DELETE'))).toHaveLength(2);
      const [first, second, ...rest] = views.get(few) ?? [];
      for (const lost of [first, second]) {
        const view = await vi.waitFor(async () => {
          const found = await readRedisCluster(right.api, lost?.id ?? '');
          expect(found?.delivery.sync).not.toBe('IN_SYNC');
          return found;
        }, WAIT);
        expect(view?.delivery.code).toMatch(/DELETED_LOCALLY|TOMBSTONED/);
      }
      for (const view of rest) await world.untilSync(right, view.id, 'IN_SYNC');
    },
  );
});
