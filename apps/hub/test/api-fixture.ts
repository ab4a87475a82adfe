/** What tests of the API begin with: an approved agent, tokens with roles, and what agents would have reported. */
import { createHash, randomBytes, randomUUID } from 'node:crypto';

import { encodeGlobalId } from '../src/platform/graphql/global-id.ts';
import { ApiClient, type Json } from './api-client.ts';
import { enrolAgent, type Enrolled } from './link-fixture.ts';
import { createTestDatabase, startTestHub, type TestHub } from './start-test-hub.ts';

export interface Api {
  readonly hub: TestHub;
  readonly admin: ApiClient;
  /** One approved agent of scope CLUSTER, and the global id of its member cluster. */
  readonly agent: Enrolled;
  readonly memberClusterId: string;
  close(): Promise<void>;
}

export async function startApi(): Promise<Api> {
  const hub = await startTestHub(await createTestDatabase());
  const admin = await ApiClient.admin(hub);
  const agent = await enrolAgent(hub);
  const close = async (): Promise<void> => {
    await admin.close();
    await hub.close();
  };
  return { hub, admin, agent, memberClusterId: encodeGlobalId('MemberCluster', agent.memberClusterId), close };
}

type Role = 'ADMIN' | 'OPERATOR' | 'VIEWER';

/** A client whose principal has these roles; `projectId` null: over the whole fleet. */
export async function clientWith(
  hub: TestHub,
  bindings: readonly { readonly role: Role; readonly projectId: string | null }[],
): Promise<{ readonly client: ApiClient; readonly token: string; readonly tokenHash: Buffer }> {
  const principalId = randomUUID();
  const token = randomBytes(24).toString('base64url');
  const tokenHash = createHash('sha256').update(token).digest();
  const { dataSource } = hub.runtime;
  await dataSource.query(`INSERT INTO principal (id, name, kind, created_at) VALUES ($1, $2, 'USER', now())`, [
    principalId,
    `user ${principalId}`,
  ]);
  for (const { role, projectId } of bindings) {
    await dataSource.query('INSERT INTO role_binding (id, principal_id, project_id, role) VALUES ($1, $2, $3, $4)', [
      randomUUID(),
      principalId,
      projectId,
      role,
    ]);
  }
  await dataSource.query(
    'INSERT INTO api_token (id, principal_id, token_hash, created_at) VALUES ($1, $2, $3, now())',
    [randomUUID(), principalId, tokenHash],
  );
  return { client: new ApiClient(hub, token), token, tokenHash };
}

export async function makeProject(
  hub: TestHub,
  name: string,
): Promise<{ readonly id: string; readonly globalId: string }> {
  const id = randomUUID();
  await hub.runtime.dataSource.query('INSERT INTO project (id, name, created_at) VALUES ($1, $2, now())', [id, name]);
  return { id, globalId: encodeGlobalId('Project', id) };
}

export const SPEC = { engine: { type: 'REDIS', version: '8.0' }, mode: 'SENTINEL', size: 3 } as const;

let names = 0;
export const newName = (): string => `cache-${(names += 1)}`;

const CREATED = 'redisCluster { id hubUid generation spec delivery { state sync } }';

export interface Created {
  readonly id: string;
  readonly hubUid: string;
  readonly name: string;
}

/** createRedisCluster, accepted. */
export async function createRedisCluster(api: Api, input: Record<string, unknown> = {}): Promise<Created> {
  const name = newName();
  const whole = { memberClusterId: api.memberClusterId, namespace: 'shop', name, spec: SPEC, ...input };
  const payload = await api.admin.mutate('createRedisCluster', whole, CREATED);
  const made = payload['redisCluster'] as Json;
  return { id: String(made['id']), hubUid: String(made['hubUid']), name: String(whole.name) };
}

/** The agent's answer to the current generation. */
export async function answerDelivery(
  hub: TestHub,
  hubUid: string,
  answer: { readonly state: string; readonly code?: string; readonly contested?: unknown } = { state: 'APPLIED' },
): Promise<void> {
  await hub.runtime.dataSource.query(
    `UPDATE delivery SET state = $2, code = $3, contested = $4::jsonb, updated_at = now(), applied_generation =
       CASE WHEN $2 IN ('APPLIED', 'CONFLICT') THEN hub_generation ELSE applied_generation END WHERE hub_uid = $1`,
    [
      hubUid,
      answer.state,
      answer.code ?? null,
      answer.contested === undefined ? null : JSON.stringify(answer.contested),
    ],
  );
  if (answer.state !== 'APPLIED') return;
  await hub.runtime.dataSource.query('UPDATE resource SET create_allowed = false WHERE hub_uid = $1', [hubUid]);
}

export interface ReportedStatus {
  readonly phase?: string;
  readonly gone?: boolean;
  readonly foreignFields?: readonly object[];
  readonly pods?: readonly object[];
  readonly conditions?: readonly object[];
  readonly endpoints?: object;
  readonly details?: object;
}

/** What a status batch of the agent would leave behind, with its line in change_log. */
export async function reportStatus(hub: TestHub, hubUid: string, status: ReportedStatus = {}): Promise<void> {
  const json = (value: unknown): string => JSON.stringify(value);
  await hub.runtime.dataSource.transaction(async (tx) => {
    await tx.query(
      `INSERT INTO resource_status (hub_uid, session_no, counter, observed_hub_generation, phase, mode, size, ready_pods,
         endpoints, pods, conditions, foreign_fields, gone, details, status_hash, received_at)
       VALUES ($1, 1, 0, 1, $2, 'Sentinel', 3, 3, $3::jsonb, $4::jsonb, $5::jsonb, $6::jsonb, $7, $8::jsonb, '', now())
       ON CONFLICT (hub_uid) DO UPDATE SET phase = $2, endpoints = $3::jsonb, pods = $4::jsonb, conditions = $5::jsonb,
         foreign_fields = $6::jsonb, gone = $7, details = $8::jsonb, received_at = now()`,
      [
        hubUid,
        status.phase ?? 'Ready',
        json(status.endpoints ?? {}),
        json(status.pods ?? []),
        json(status.conditions ?? []),
        json(status.foreignFields ?? []),
        status.gone ?? false,
        json(status.details ?? {}),
      ],
    );
    await tx.query(`INSERT INTO change_log (at, topic, subject, kind) VALUES (now(), 'redisCluster', $1, 'CHANGED')`, [
      hubUid,
    ]);
  });
}
