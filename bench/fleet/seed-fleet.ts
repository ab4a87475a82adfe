/**
 * Writes a fleet into the hub's database as N acknowledged agents would have left it: enrolled and ACTIVE, ten RedisClusters
 * each, delivered in ten revisions, applied, with status and counts. In bulk, since a fleet that enrolled one by one
 * would be the longest part of the bench. A hub that finds anything amiss answers with INVENTORY, which the bench counts.
 */
import pg from 'pg';
import { publicKeyOf } from '#protocol';
import {
  API_VERSION_OF_ALL,
  CLUSTERS_PER_AGENT,
  fingerprintOf,
  firstDigest,
  firstStatus,
  fleetId,
  frozenSpecOfSlot,
  itemHashOf,
  objectOf,
  privateKeyOf,
  PROJECTS,
  REGIONS,
  statusBodyOf,
} from './fleet-model.ts';

const AGENTS_PER_STATEMENT = 500;

const range = (from: number, to: number): number[] => Array.from({ length: to - from }, (_, at) => from + at);

/** Returns the hub's epoch, which the agents remember. */
export async function seedFleet(databaseUrl: string, agents: number): Promise<string> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    await client.query('SET synchronous_commit = off');
    await seedProjects(client);
    for (let from = 0; from < agents; from += AGENTS_PER_STATEMENT) {
      const numbers = range(from, Math.min(agents, from + AGENTS_PER_STATEMENT));
      await client.query('BEGIN');
      await seedAgents(client, numbers);
      await seedObjects(client, numbers);
      await client.query('COMMIT');
    }
    await client.query('VACUUM ANALYZE');
    await client.query('CHECKPOINT');
    const { rows } = await client.query<{ hub_epoch: string }>('SELECT hub_epoch FROM hub_identity');
    return rows[0]?.hub_epoch ?? '';
  } finally {
    await client.end();
  }
}

async function seedProjects(client: pg.Client): Promise<void> {
  await client.query(
    `INSERT INTO project (id, name, created_at) SELECT id, 'team-' || number, now()
     FROM unnest($1::uuid[]) WITH ORDINALITY AS p(id, number)`,
    [range(0, PROJECTS).map((n) => fleetId('project', n))],
  );
}

async function seedAgents(client: pg.Client, numbers: readonly number[]): Promise<void> {
  const agents = numbers.map((n) => fleetId('agent', n));
  const members = numbers.map((n) => fleetId('memberCluster', n));
  const fingerprints = numbers.map(fingerprintOf);
  await client.query(
    `INSERT INTO member_cluster (id, name, fingerprint, region, labels, state, created_at)
     SELECT id, 'member-' || n, fingerprint, 'region-' || n % $4, jsonb_build_object('region', 'region-' || n % $4), 'ACTIVE', now()
     FROM unnest($1::uuid[], $2::text[], $3::int[]) AS m(id, fingerprint, n)`,
    [members, fingerprints, numbers, REGIONS],
  );
  await client.query(
    `INSERT INTO agent (id, member_cluster_id, scope_kind, public_key, fingerprint, state, agent_version, crd_schema_hash,
       capabilities, created_at, approved_at)
     SELECT id, member, 'CLUSTER', key, fingerprint, 'ACTIVE', '0.1.0', '', '["RedisCluster/v1alpha1"]', now(), now()
     FROM unnest($1::uuid[], $2::uuid[], $3::bytea[], $4::text[]) AS a(id, member, key, fingerprint)`,
    [agents, members, numbers.map((n) => Buffer.from(publicKeyOf(privateKeyOf(n)), 'base64url')), fingerprints],
  );
  await client.query(
    `INSERT INTO agent_spec_head (agent_id, revision, acked_revision, digest)
     SELECT id, $3, $3, digest FROM unnest($1::uuid[], $2::text[]) AS h(id, digest)`,
    [agents, numbers.map(firstDigest), CLUSTERS_PER_AGENT],
  );
  await client.query(`INSERT INTO agent_status_head (agent_id, session_no, counter) SELECT unnest($1::uuid[]), 1, 0`, [
    agents,
  ]);
  await client.query(
    `INSERT INTO agent_session (agent_id, session_no, replica, instance_id, state, inventory, connected_at, disconnected_at)
     SELECT unnest($1::uuid[]), 1, 'a', 'before', 'DISCONNECTED', 'SYNCED', now(), now()`,
    [agents],
  );
  await client.query(
    `INSERT INTO agent_seen (agent_id, seen_at, verdict) SELECT unnest($1::uuid[]), now() - interval '1 hour', 'UNKNOWN'`,
    [agents],
  );
}

async function seedObjects(client: pg.Client, numbers: readonly number[]): Promise<void> {
  const slots = range(0, CLUSTERS_PER_AGENT);
  const objects = numbers.flatMap((agent) => slots.map((slot) => ({ agent, slot, ...objectOf(agent, slot) })));
  const hubUids = objects.map(({ hubUid }) => hubUid);
  await client.query(
    `INSERT INTO resource (hub_uid, project_id, member_cluster_id, agent_id, api_version, kind, namespace, name,
       hub_generation, spec, spec_hash, create_allowed, created_at, updated_at)
     SELECT o.hub_uid, o.project, o.member, o.agent, $6, 'RedisCluster', s.namespace, s.name, 1, s.spec, s.hash, false, now(), now()
     FROM unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::uuid[], $5::int[]) AS o(hub_uid, project, member, agent, slot)
     JOIN jsonb_to_recordset($7::jsonb) AS s(slot int, namespace text, name text, spec text, hash text) ON s.slot = o.slot`,
    [
      hubUids,
      objects.map(({ n }) => fleetId('project', n % PROJECTS)),
      objects.map(({ agent }) => fleetId('memberCluster', agent)),
      objects.map(({ agent }) => fleetId('agent', agent)),
      objects.map(({ slot }) => slot),
      API_VERSION_OF_ALL,
      JSON.stringify(
        slots.map((slot) => ({
          slot,
          ...objectOf(0, slot),
          spec: frozenSpecOfSlot(slot).text,
          hash: frozenSpecOfSlot(slot).hash,
        })),
      ),
    ],
  );
  await client.query(
    `INSERT INTO delivery (hub_uid, hub_generation, state, applied_generation, applied_hash, updated_at)
     SELECT hub_uid, 1, 'APPLIED', 1, spec_hash, now() FROM resource WHERE hub_uid = ANY($1::uuid[])`,
    [hubUids],
  );
  await seedStatus(client, objects);
}

async function seedStatus(
  client: pg.Client,
  objects: readonly { readonly agent: number; readonly slot: number; readonly n: number; readonly hubUid: string }[],
): Promise<void> {
  const states = [false, true].flatMap((degraded) =>
    range(0, CLUSTERS_PER_AGENT).map((slot) => ({
      slot,
      degraded,
      ...statusBodyOf(slot, { ...firstStatus(1), degraded }),
    })),
  );
  await client.query(
    `INSERT INTO resource_status (hub_uid, session_no, counter, observed_hub_generation, observed_generation, phase, mode,
       engine_version, size, ready_pods, current_primary, primary_term, endpoints, pods, conditions, numbers, details,
       data_set_id, kube_uid, status_hash, received_at)
     SELECT o.hub_uid, 1, 0, 1, 1, b.phase, b.mode, b."engineVersion", b.size, b."readyPods", b."currentPrimary", 1, b.endpoints,
       b.pods, b.conditions, b.numbers, b.details, o.hub_uid::text, o.kube_uid, o.hash, now()
     FROM unnest($1::uuid[], $2::text[], $3::text[], $4::int[], $5::boolean[]) AS o(hub_uid, kube_uid, hash, slot, degraded)
     JOIN jsonb_to_recordset($6::jsonb) AS b(slot int, degraded boolean, phase text, mode text, "engineVersion" text, size int,
       "readyPods" int, "currentPrimary" text, endpoints jsonb, pods jsonb, conditions jsonb, numbers jsonb, details jsonb)
       ON b.slot = o.slot AND b.degraded = o.degraded`,
    [
      objects.map(({ hubUid }) => hubUid),
      objects.map(({ n }) => fleetId('kubernetes', n)),
      objects.map(({ hubUid, n }) => itemHashOf(hubUid, firstStatus(n))),
      objects.map(({ slot }) => slot),
      objects.map(({ n }) => firstStatus(n).degraded),
      JSON.stringify(states),
    ],
  );
  await client.query(
    `INSERT INTO rollup_entry (hub_uid, agent_id, project_id, mode, version, phase)
     SELECT s.hub_uid, r.agent_id, r.project_id, s.mode, s.engine_version, s.phase
     FROM resource_status AS s JOIN resource AS r ON r.hub_uid = s.hub_uid WHERE s.hub_uid = ANY($1::uuid[])`,
    [objects.map(({ hubUid }) => hubUid)],
  );
}
