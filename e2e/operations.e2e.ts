/** RedisOperations as kubectl users write them: what was asked is done once, told in the status, and costs no write. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startLedger } from '../tools/ledger/start-ledger.ts';
import { cleanUp } from './clean-up.ts';
import { sharedFleet, type Fleet, type MemberCluster } from './fleet.ts';
import {
  applyRedisCluster,
  dataPods,
  getItem,
  kubectl,
  listItems,
  makeNamespace,
  waitFor,
  waitLocallyReady,
  type KubeItem,
} from './member.ts';
import { REPLICATION_SPEC, SENTINEL_SPEC } from './specs.ts';
import { patchSpec, readRolling, tellFigures, waitRolled } from './watch-rollout.ts';

const NAMESPACE = 'operations';
let fleet: Fleet;
let killed: number | undefined;
beforeAll(async () => {
  fleet = await sharedFleet();
  await Promise.all([fleet.a, fleet.b].map(({ cluster }) => makeNamespace(cluster, NAMESPACE)));
});
afterAll(async () => {
  if (killed !== undefined) await fleet.a.cluster.node(killed).start();
  await fleet.a.cluster.ready();
  await Promise.all([fleet.a, fleet.b].map((member) => cleanUp(fleet, member, NAMESPACE)));
});

interface OperationItem extends KubeItem {
  readonly status?: {
    readonly phase?: string;
    readonly reason?: string;
    readonly message?: string;
    readonly plan?: { readonly hash: string; readonly restarts: readonly string[] };
  };
}

const ask = (member: MemberCluster, name: string, spec: object): Promise<string> =>
  kubectl(
    member.cluster,
    ['create', '-f', '-'],
    JSON.stringify({
      apiVersion: 'redis.atoll.dev/v1alpha1',
      kind: 'RedisOperation',
      metadata: { name, namespace: NAMESPACE },
      spec,
    }),
  );

const readOperation = (member: MemberCluster, name: string): Promise<OperationItem | undefined> =>
  getItem<OperationItem>(member.cluster, NAMESPACE, 'redisoperation', name);

const waitOver = (member: MemberCluster, name: string, timeoutMs = 60_000): Promise<OperationItem> =>
  waitFor(
    `operation ${name} is over`,
    async () => {
      const operation = await readOperation(member, name);
      const phase = operation?.status?.phase ?? 'Pending';
      return phase === 'Pending' || phase === 'Running' ? undefined : operation;
    },
    timeoutMs,
  );

const askAndWait = async (member: MemberCluster, name: string, spec: object): Promise<OperationItem> => {
  await ask(member, name, spec);
  return waitOver(member, name);
};

const create = async (member: MemberCluster, name: string, spec: object): Promise<void> => {
  await applyRedisCluster(member.cluster, { namespace: NAMESPACE, name, spec });
  await waitLocallyReady(member.cluster, NAMESPACE, name);
};

const byAge = (pods: Awaited<ReturnType<typeof dataPods>>): readonly string[] =>
  [...pods]
    .sort((a, b) => a.metadata.creationTimestamp.localeCompare(b.metadata.creationTimestamp))
    .map(({ metadata }) => metadata.name);

describe('RedisOperation', () => {
  it('Failover: another primary, no acknowledged write lost, a short gap', async () => {
    const { b } = fleet;
    await create(b, 'asked', SENTINEL_SPEC);
    const watched = { cluster: b.cluster, namespace: NAMESPACE, name: 'asked' };
    const before = await readRolling(watched);
    const ledger = await startLedger(b.cluster, NAMESPACE, 'asked');
    const operation = await askAndWait(b, 'move', { redisCluster: 'asked', type: 'Failover' });
    await waitFor('Ready again', async () => (await readRolling(watched))?.status?.phase === 'Ready');
    const report = await ledger.finish();
    tellFigures('RedisOperation Failover', report);
    expect(operation.status).toMatchObject({ phase: 'Succeeded', reason: 'HandedOver' });
    const after = await readRolling(watched);
    expect(after?.status?.currentPrimary).not.toBe(before?.status?.currentPrimary);
    expect(report.lost).toEqual([]);
    expect(report.longestClientGapMs).toBeLessThanOrEqual(2_000);
  }, 180_000);

  it('is refused, expires or is called off with a reason, and nothing is touched', async () => {
    const { b } = fleet;
    const primary = async () =>
      (await getItem<KubeItem & { status?: { currentPrimary?: string } }>(b.cluster, NAMESPACE, 'arc', 'asked'))?.status
        ?.currentPrimary;
    const before = await primary();
    const failover = { redisCluster: 'asked', type: 'Failover' };
    const [late, wrong, off, nowhere] = await Promise.all([
      askAndWait(b, 'late', { ...failover, notAfter: '2020-01-01T00:00:00Z' }),
      askAndWait(b, 'wrong', { ...failover, precondition: { currentPrimary: 'somebody-else' } }),
      askAndWait(b, 'off', { ...failover, cancel: true }),
      askAndWait(b, 'nowhere', { redisCluster: 'no-such', type: 'Restart', notAfter: '2020-01-01T00:00:00Z' }),
    ]);
    expect(late.status).toMatchObject({ phase: 'Expired', reason: 'NotBegunInTime' });
    expect(wrong.status).toMatchObject({ phase: 'Failed', reason: 'PreconditionFailed' });
    expect(off.status).toMatchObject({ phase: 'Cancelled' });
    expect(nowhere.status).toMatchObject({ phase: 'Expired' });
    expect(await primary()).toBe(before);
  }, 120_000);

  it('Plan tells what then happens, and Consent to its hash lets it happen', async () => {
    const { b } = fleet;
    await create(b, 'planned', { ...REPLICATION_SPEC, updateStrategy: { type: 'OnApproval' } });
    const watched = { cluster: b.cluster, namespace: NAMESPACE, name: 'planned' };
    const spec = { ...REPLICATION_SPEC, updateStrategy: { type: 'OnApproval' } };
    const changed = { ...spec, resources: { ...spec.resources, limits: { memory: '224Mi' } } };
    const planned = await askAndWait(b, 'plan', { redisCluster: 'planned', type: 'Plan', plan: { spec: changed } });
    expect(planned.status).toMatchObject({ phase: 'Succeeded', reason: 'Planned' });
    const { hash = '', restarts = [] } = planned.status?.plan ?? {};
    expect(restarts).toHaveLength(2);
    await ask(b, 'consent', { redisCluster: 'planned', type: 'Consent', consent: { planHash: hash } });
    await patchSpec(watched, { resources: changed.resources });
    await waitFor('the rollout has begun', async () => (await readRolling(watched))?.status?.rollout !== undefined);
    await waitRolled(watched);
    expect(byAge(await dataPods(b.cluster, NAMESPACE, 'planned'))).toEqual(restarts);
  }, 180_000);

  it('Restart makes the named pod anew; of ended operations the newest ten are kept', async () => {
    const { b } = fleet;
    const [pod] = (await dataPods(b.cluster, NAMESPACE, 'planned')).slice(-1);
    const restart = { redisCluster: 'planned', type: 'Restart', restart: { pods: [pod?.metadata.name ?? ''] } };
    const operation = await askAndWait(b, 'restart', restart);
    expect(operation.status).toMatchObject({ phase: 'Succeeded', reason: 'Restarted' });
    const pods = await dataPods(b.cluster, NAMESPACE, 'planned');
    expect(pods.map(({ metadata }) => metadata.uid)).not.toContain(pod?.metadata.uid);
    const off = { redisCluster: 'planned', type: 'Failover', cancel: true };
    await Promise.all(Array.from({ length: 12 }, (_, index) => ask(b, `history-${index}`, off)));
    const ended = async (): Promise<OperationItem[]> =>
      (await listItems<OperationItem>(b.cluster, NAMESPACE, 'redisoperations')).filter(
        ({ spec, status }) =>
          (spec as { redisCluster: string }).redisCluster === 'planned' &&
          !['Pending', 'Running', undefined].includes(status?.phase),
      );
    await waitFor('ten are left', async () => {
      const left = await ended();
      const open = await listItems<OperationItem>(b.cluster, NAMESPACE, 'redisoperations');
      return left.length === 10 && open.every(({ status }) => status?.phase !== undefined);
    });
    expect((await readOperation(b, 'consent'))?.status?.phase).toBe('Running');
  }, 180_000);

  it('ReplaceUnreachable: never on a node that is Ready; on a dead one the pod comes up elsewhere', async () => {
    const { a } = fleet;
    await create(a, 'widowed', REPLICATION_SPEC);
    const pods = await dataPods(a.cluster, NAMESPACE, 'widowed');
    const primary = (await readRolling({ cluster: a.cluster, namespace: NAMESPACE, name: 'widowed' }))?.status
      ?.currentPrimary;
    const replica = pods.find(({ metadata }) => metadata.name !== primary);
    const name = replica?.metadata.name ?? '';
    const replace = { redisCluster: 'widowed', type: 'ReplaceUnreachable', replaceUnreachable: { pod: name } };
    const refused = await askAndWait(a, 'too-early', replace);
    expect(refused.status).toMatchObject({ phase: 'Failed', reason: 'NodeIsReady' });

    const nodeName = replica?.spec.nodeName ?? '';
    killed = Number(nodeName.slice(nodeName.lastIndexOf('-') + 1));
    await a.cluster.node(killed).kill();
    await waitFor('the node is not Ready', async () => {
      const text = await kubectl(a.cluster, [
        'get',
        'node',
        nodeName,
        '-o',
        'jsonpath={.status.conditions[?(@.type=="Ready")].status}',
      ]);
      return text !== 'True';
    });
    await ask(a, 'replace', replace);
    const operation = await waitOver(a, 'replace', 90_000);
    expect(operation.status).toMatchObject({ phase: 'Succeeded', reason: 'Replaced' });
    const after = (await dataPods(a.cluster, NAMESPACE, 'widowed')).find(({ metadata }) => metadata.name === name);
    expect(after?.spec.nodeName).not.toBe(nodeName);
    await a.cluster.node(killed).start();
    killed = undefined;
    await a.cluster.ready();
  }, 300_000);
});
