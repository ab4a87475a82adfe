/** What a dump of the database holds of one agent: the tables that decide about desired state, taken and put back. */
import type { DataSource, EntityManager } from 'typeorm';

/** In the order in which their foreign keys allow them to be filled. */
const TABLES = [
  ['agent_spec_head', 'agent_id = $1'],
  ['resource', 'agent_id = $1'],
  ['delivery', 'hub_uid IN (SELECT hub_uid FROM resource WHERE agent_id = $1)'],
  ['resource_status', 'hub_uid IN (SELECT hub_uid FROM resource WHERE agent_id = $1)'],
  ['desired_change', 'agent_id = $1'],
  ['tombstone_release', 'agent_id = $1'],
] as const;

export class AgentRowsDump {
  readonly #dataSource: DataSource;
  readonly #agentId: string;
  #rows: ReadonlyMap<string, string> | undefined;

  constructor(dataSource: DataSource, agentId: string) {
    this.#dataSource = dataSource;
    this.#agentId = agentId;
  }

  async take(): Promise<void> {
    const rows = new Map<string, string>();
    for (const [table, where] of TABLES) {
      const [row] = await this.#dataSource.query<{ rows: string }[]>(
        `SELECT coalesce(jsonb_agg(t), '[]')::text AS rows FROM ${table} AS t WHERE ${where}`,
        [this.#agentId],
      );
      rows.set(table, row?.rows ?? '[]');
    }
    this.#rows = rows;
  }

  /** False when none was taken. */
  async putBack(): Promise<boolean> {
    const dump = this.#rows;
    if (dump === undefined) return false;
    await this.#dataSource.transaction(async (tx) => {
      await tx.query('DELETE FROM rollup_entry WHERE agent_id = $1', [this.#agentId]);
      for (const [table, where] of TABLES.toReversed()) {
        await tx.query(`DELETE FROM ${table} WHERE ${where}`, [this.#agentId]);
      }
      for (const [table] of TABLES) {
        const columns = await readColumns(tx, table);
        await tx.query(
          `INSERT INTO ${table} (${columns}) SELECT ${columns} FROM jsonb_populate_recordset(NULL::${table}, $1::jsonb)`,
          [dump.get(table)],
        );
      }
    });
    return true;
  }
}

/** Without those that PostgreSQL computes. */
async function readColumns(tx: EntityManager, table: string): Promise<string> {
  const rows = await tx.query<{ name: string }[]>(
    `SELECT column_name AS name FROM information_schema.columns
     WHERE table_name = $1 AND table_schema = 'public' AND is_generated = 'NEVER'`,
    [table],
  );
  return rows.map(({ name }) => name).join(', ');
}
