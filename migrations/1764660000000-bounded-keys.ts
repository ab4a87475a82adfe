import type { MigrationInterface, QueryRunner } from 'typeorm';

/** What objects are counted by. */
const COUNTED_BY = { mode: 64, version: 64, phase: 64 } as const;
const REGION = 1_024;

/**
 * Bytes of every text in a key of an index, by table and column. What an index row takes is 2,704 bytes together. None is below
 * what the release before took: a bound that is NOT VALID still refuses every UPDATE of a row that is above it.
 */
const BOUNDS: Readonly<Record<string, Readonly<Record<string, number>>>> = {
  project: { name: 1_024 },
  principal: { name: 1_024 },
  api_token: { token_hash: 64 },
  enrolment_token: { token_hash: 64 },
  idempotency_key: { principal: 1_024, key: 1_024 },
  audit: { target: 2_048 },
  member_cluster: { name: 1_024, fingerprint: 2_048, region: REGION },
  agent: { scope_namespace: 253 },
  agent_session: { replica: 1_024 },
  replica_delete_limits: { replica: 1_024 },
  resource: { kind: 128, namespace: 253, name: 253, mode: 64 },
  resource_status: { phase: 64 },
  local_object: { kind: 63, namespace: 63, name: 253 },
  rollup_entry: COUNTED_BY,
  agent_rollup: COUNTED_BY,
  member_cluster_rollup: { ...COUNTED_BY, region: REGION },
  region_rollup: { ...COUNTED_BY, region: REGION },
  fleet_rollup: { group_hash: 128 },
};

const isLong = (alias: string): string =>
  Object.entries(COUNTED_BY)
    .map(([column, bytes]) => `octet_length(${alias}${column}) > ${bytes}`)
    .join(' OR ');
const SHORTEN = Object.entries(COUNTED_BY)
  .map(
    ([column, bytes]) => `${column} = CASE WHEN octet_length(${column}) > ${bytes} THEN 'Unknown' ELSE ${column} END`,
  )
  .join(', ');

/**
 * What agents of before have told and no agent may tell any more. Counts follow by their triggers; what was counted under a long
 * key, in member clusters and so in regions, goes with it. Status comes again when it changes, local objects with the next session.
 */
const PUT_RIGHT = `
  UPDATE rollup_entry SET ${SHORTEN} WHERE ${isLong('')};
  DELETE FROM agent_rollup WHERE ${isLong('')};
  DELETE FROM member_cluster_rollup WHERE ${isLong('')};
  DELETE FROM region_rollup WHERE ${isLong('')};
  UPDATE audit SET target = left(target, 125) || '…' WHERE octet_length(target) > 2048;
  UPDATE resource_status SET phase = NULL WHERE octet_length(phase) > 64;
  DELETE FROM local_object WHERE octet_length(kind) > 63 OR octet_length(namespace) > 63 OR octet_length(name) > 253;`;

/**
 * The last defence of the indexes: a text that does not fit a key is refused for its column, by a named constraint, whoever
 * wrote it. An index row that is too large fails statements in the middle of work for everybody. NOT VALID: rows that are there
 * are not looked at, which would hold everybody up; those of foreign text were put right before.
 */
export class BoundedKeys1764660000000 implements MigrationInterface {
  readonly name = 'BoundedKeys1764660000000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(PUT_RIGHT);
    for (const [table, columns] of Object.entries(BOUNDS)) {
      const checks = Object.entries(columns).map(
        ([column, bytes]) =>
          `ADD CONSTRAINT ${table}_${column}_bytes CHECK (octet_length(${column}) <= ${bytes}) NOT VALID`,
      );
      await runner.query(`ALTER TABLE ${table} ${checks.join(', ')}`);
    }
  }

  async down(runner: QueryRunner): Promise<void> {
    for (const [table, columns] of Object.entries(BOUNDS)) {
      const drops = Object.keys(columns).map((column) => `DROP CONSTRAINT ${table}_${column}_bytes`);
      await runner.query(`ALTER TABLE ${table} ${drops.join(', ')}`);
    }
  }
}
