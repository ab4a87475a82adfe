/** What tests of the link begin with: an approved agent, and objects that the hub wants of it. */
import { randomUUID } from 'node:crypto';
import { EMPTY_DIGEST, freezeSpec, type HubPayloads } from '#protocol';

import type { EntityManager } from 'typeorm';

import { changeDesired } from '../src/features/agent-link/index.ts';
import type { EnrolledMemberCluster } from '../src/features/member-clusters/member-clusters.types.ts';
import { MemberClustersService } from '../src/features/member-clusters/member-clusters.service.ts';
import { systemIds } from '../src/platform/lifecycle/time-and-ids.ts';
import type { TestHub } from './start-test-hub.ts';
import { createIdentity, TestAgent, type TestIdentity } from './test-agent.ts';

let names = 0;
const actor = { principal: 'test' };

export function serviceOf(hub: TestHub): MemberClustersService {
  return new MemberClustersService(hub.runtime, systemIds);
}

/** enrolMemberCluster as a mutation would call it. */
export async function enrol(hub: TestHub): Promise<EnrolledMemberCluster> {
  const input = { name: `member-${(names += 1)}`, labels: {}, scope: 'CLUSTER' } as const;
  const made = await hub.runtime.dataSource.transaction((tx) =>
    serviceOf(hub).enrolMemberCluster(tx, { input, actor, nowMs: Date.now() }),
  );
  if (!made.ok) throw new Error(made.errors[0]?.message);
  return made.value;
}

export async function approve(hub: TestHub, agentId: string): Promise<void> {
  const done = await hub.runtime.dataSource.transaction((tx) =>
    serviceOf(hub).approveAgent(tx, { input: { agentId }, actor, nowMs: Date.now() }),
  );
  if (!done.ok) throw new Error(done.errors[0]?.message);
}

export async function revoke(hub: TestHub, agentId: string): Promise<void> {
  await hub.runtime.dataSource.transaction((tx) =>
    serviceOf(hub).revokeAgent(tx, { input: { agentId }, actor, nowMs: Date.now() }),
  );
}

export interface Enrolled {
  readonly identity: TestIdentity & { readonly agentId: string };
  readonly agentId: string;
  readonly memberClusterId: string;
  readonly projectId: string;
}

/** An agent that has been enrolled and approved over the wire. */
export async function enrolAgent(hub: TestHub): Promise<Enrolled> {
  const { agentId, memberClusterId, token } = await enrol(hub);
  const identity = createIdentity();
  const agent = await TestAgent.connect(hub, identity);
  agent.enrol(token);
  await agent.next('EnrolPending');
  await approve(hub, agentId);
  await agent.next('Enrolled');
  agent.close();
  await agent.waitForClose();
  const projectId = randomUUID();
  await hub.runtime.dataSource.query('INSERT INTO project (id, name, created_at) VALUES ($1, $2, now())', [
    projectId,
    `project ${projectId}`,
  ]);
  return { identity: { ...identity, agentId }, agentId, memberClusterId, projectId };
}

/** A session that is past its first, empty snapshot. */
export async function openSession(
  hub: TestHub,
  enrolled: Enrolled,
  hello: Parameters<TestAgent['hello']>[0] = {},
): Promise<{ readonly agent: TestAgent; readonly welcome: HubPayloads['Welcome'] }> {
  const agent = await TestAgent.connect(hub, enrolled.identity);
  agent.hello(hello);
  const welcome = await agent.next('Welcome');
  if (welcome.mode === 'SNAPSHOT') {
    const { revision } = await agent.next('SnapshotEnd');
    agent.send('DesiredAck', { revision, outcomes: [], digest: EMPTY_DIGEST });
  }
  return { agent, welcome };
}

export interface Wanted {
  readonly hubUid: string;
  readonly hubGeneration: number;
  readonly specHash: string;
}

/** Mutations lock the spec head before the object, as the booking of an ack does. */
const lockHead = (tx: EntityManager, agentId: string): Promise<unknown> =>
  tx.query('SELECT 1 FROM agent_spec_head WHERE agent_id = $1 FOR UPDATE', [agentId]);

/** What a create mutation writes. */
export async function want(
  hub: TestHub,
  enrolled: Enrolled,
  name: string,
  spec: object = { mode: 'Standalone' },
): Promise<Wanted> {
  const hubUid = systemIds.newId();
  const { text, hash } = freezeSpec(spec);
  await hub.runtime.dataSource.transaction(async (tx) => {
    await lockHead(tx, enrolled.agentId);
    await tx.query(
      `INSERT INTO resource (hub_uid, project_id, member_cluster_id, agent_id, api_version, kind, namespace, name,
         hub_generation, spec, spec_hash, created_at, updated_at)
       VALUES ($1, $2, $3, $4, 'redis.atoll.dev/v1alpha1', 'RedisCluster', 'default', $5, 1, $6, $7, now(), now())`,
      [hubUid, enrolled.projectId, enrolled.memberClusterId, enrolled.agentId, name, text, hash],
    );
    await changeDesired(tx, enrolled.agentId, hubUid, 'UPSERT');
  });
  return { hubUid, hubGeneration: 1, specHash: hash };
}

/** What an update mutation writes. */
export async function revise(hub: TestHub, enrolled: Enrolled, wanted: Wanted, spec: object): Promise<Wanted> {
  const { text, hash } = freezeSpec(spec);
  return hub.runtime.dataSource.transaction(async (tx) => {
    await lockHead(tx, enrolled.agentId);
    await tx.query(
      'UPDATE resource SET hub_generation = hub_generation + 1, spec = $2, spec_hash = $3 WHERE hub_uid = $1',
      [wanted.hubUid, text, hash],
    );
    await changeDesired(tx, enrolled.agentId, wanted.hubUid, 'UPSERT');
    return { hubUid: wanted.hubUid, hubGeneration: wanted.hubGeneration + 1, specHash: hash };
  });
}

/** What a delete mutation writes. */
export async function unwant(
  hub: TestHub,
  enrolled: Enrolled,
  hubUid: string,
  deletion: 'DELETE' | 'ORPHAN' = 'DELETE',
): Promise<void> {
  await hub.runtime.dataSource.transaction(async (tx) => {
    await lockHead(tx, enrolled.agentId);
    await tx.query('UPDATE resource SET deletion = $2 WHERE hub_uid = $1', [hubUid, deletion]);
    await changeDesired(tx, enrolled.agentId, hubUid, 'TOMBSTONE');
  });
}

export interface DeliveryView {
  readonly state: string;
  readonly code: string | null;
  readonly hub_generation: number;
  readonly applied_generation: number | null;
  readonly create_allowed: boolean;
}

export async function readDelivery(hub: TestHub, hubUid: string): Promise<DeliveryView | undefined> {
  const rows = await hub.runtime.dataSource.query<DeliveryView[]>(
    `SELECT d.state, d.code, r.hub_generation, d.applied_generation, r.create_allowed
     FROM delivery AS d JOIN resource AS r ON r.hub_uid = d.hub_uid WHERE d.hub_uid = $1`,
    [hubUid],
  );
  return rows[0];
}
