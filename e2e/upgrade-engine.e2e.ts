/**
 * Every edge among the engines, on the real images and under a write ledger: what the RDB format allows is rolled out and
 * loses nothing, what it forbids is refused with the reason and touches no pod. Edges to 8.6 and 9.1 wherever their Debian
 * suite serves them today.
 */
import { afterAll, beforeAll, describe, expect, it, type TestContext } from 'vitest';
import { startLedger } from '../tools/ledger/start-ledger.ts';
import { ensureEngineImage, type EngineImage } from '../tools/local-kubernetes/index.ts';
import { cleanUp } from './clean-up.ts';
import { sharedFleet, type Fleet, type MemberCluster } from './fleet.ts';
import { applyRedisCluster, makeNamespace, waitFor, waitLocallyReady } from './member.ts';
import { REPLICATION_SPEC, SENTINEL_SPEC } from './specs.ts';
import { describePods, patchSpec, readRolling, tellFigures, waitRolled, type Watched } from './watch-rollout.ts';

interface Engine {
  readonly type: 'Redis' | 'Valkey';
  readonly version: string;
}

const NAMESPACE = 'engines';
const REDIS_7_0 = { type: 'Redis', version: '7.0' } as const;
const REDIS_8_0 = { type: 'Redis', version: '8.0' } as const;
const REDIS_8_6 = { type: 'Redis', version: '8.6' } as const;
const VALKEY_8_1 = { type: 'Valkey', version: '8.1' } as const;
const VALKEY_9_1 = { type: 'Valkey', version: '9.1' } as const;
let fleet: Fleet;
beforeAll(async () => {
  fleet = await sharedFleet();
  await Promise.all([fleet.a, fleet.b].map(({ cluster }) => makeNamespace(cluster, NAMESPACE)));
});
afterAll(async () => {
  await Promise.all([fleet.a, fleet.b].map((member) => cleanUp(fleet, member, NAMESPACE)));
});

const create = async ({ cluster }: MemberCluster, name: string, engine: Engine, base: object): Promise<Watched> => {
  await applyRedisCluster(cluster, { namespace: NAMESPACE, name, spec: { ...base, engine } });
  await waitLocallyReady(cluster, NAMESPACE, name);
  return { cluster, namespace: NAMESPACE, name };
};
const tell = ({ type, version }: Engine): string => `${type} ${version}`;

/** All pods run the new engine in the end, and every acknowledged write is on each of them. */
const upgrade = async (watched: Watched, to: Engine): Promise<void> => {
  const before = await describePods(watched);
  const ledger = await startLedger(watched.cluster, NAMESPACE, watched.name);
  await patchSpec(watched, { engine: to });
  await waitFor('the rollout has begun', async () => (await readRolling(watched))?.status?.rollout !== undefined);
  const rolled = await waitRolled(watched);
  const report = await ledger.finish({ everywhere: true });
  tellFigures(`${watched.name} to ${tell(to)}`, report);
  expect(report.lost).toEqual([]);
  expect(Object.values(report.lostOnReplicas).flat()).toEqual([]);
  expect(rolled.status?.engineVersion?.startsWith(`${to.version}.`)).toBe(true);
  expect((await describePods(watched)).filter((pod) => before.includes(pod))).toEqual([]);
};

/** At admission where the API server can tell, else as SpecRejected; the pods run on as they are. */
const expectRefused = async (watched: Watched, to: Engine, now: Engine, reason: RegExp): Promise<void> => {
  const before = await describePods(watched);
  const refused = await patchSpec(watched, { engine: to }).then(
    () => undefined,
    (error: unknown) => String(error),
  );
  if (refused === undefined) {
    const rejected = await waitFor(`${tell(to)} is refused`, async () => {
      const object = await readRolling(watched);
      return object?.status?.phase === 'SpecRejected' ? object : undefined;
    });
    expect(rejected.status?.conditions?.find(({ type }) => type === 'SpecRejected')?.message).toMatch(reason);
    await patchSpec(watched, { engine: now });
    await waitRolled(watched);
  } else {
    expect(refused).toMatch(reason);
  }
  expect(await describePods(watched)).toEqual(before);
};

/** Skips with the reason where today's archive does not serve it. */
const loadEngine = async ({ cluster }: MemberCluster, name: EngineImage, { skip }: TestContext): Promise<void> => {
  const image = await ensureEngineImage(name);
  if ('unavailable' in image) return skip(image.reason);
  await cluster.loadImage(image.path);
};

describe.concurrent('engines', { timeout: 300_000 }, () => {
  it('Redis 7.0 → Valkey 8.1 → Redis 8.0, and neither of them back', async () => {
    const watched = await create(fleet.a, 'wanderer', REDIS_7_0, REPLICATION_SPEC);
    await upgrade(watched, VALKEY_8_1);
    await expectRefused(watched, REDIS_7_0, VALKEY_8_1, /cannot read what Valkey 8\.1|has run/);
    await upgrade(watched, REDIS_8_0);
    await expectRefused(watched, REDIS_7_0, REDIS_8_0, /has run/);
    await expectRefused(watched, VALKEY_8_1, REDIS_8_0, /cannot read what Redis 8\.0/);
  });

  it('Redis 7.0 → 8.0 with Sentinel', async () => {
    const watched = await create(fleet.b, 'straight', REDIS_7_0, SENTINEL_SPEC);
    await upgrade(watched, REDIS_8_0);
  });

  it('Redis 8.0 → 8.6, and not to Valkey 9.1', async (context) => {
    await loadEngine(fleet.a, 'redis:8.6', context);
    const watched = await create(fleet.a, 'newer', REDIS_8_0, REPLICATION_SPEC);
    await upgrade(watched, REDIS_8_6);
    await expectRefused(watched, VALKEY_9_1, REDIS_8_6, /cannot read what Redis 8\.6/);
  });

  it('Valkey 8.1 → 9.1, and not to Redis 8.6', async (context) => {
    await loadEngine(fleet.b, 'valkey:9.1', context);
    const watched = await create(fleet.b, 'other', VALKEY_8_1, REPLICATION_SPEC);
    await upgrade(watched, VALKEY_9_1);
    await expectRefused(watched, REDIS_8_6, VALKEY_9_1, /cannot read what Valkey 9\.1/);
  });
});
