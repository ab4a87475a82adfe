/**
 * Whether the hub's own role in the database could undo what keeps the audit append-only. It can wherever it owns the table,
 * which is how a hub sets itself up; docs/how-to/keep-the-audit.md shows how to take that from it. Said at the start, once:
 * it is for the database administrator to decide, and no reason not to start.
 */
import type { EntityManager } from 'typeorm';

interface Rights {
  readonly role: string;
  readonly superuser: boolean;
  readonly makesMembers: boolean;
  readonly ownsTable: boolean;
  readonly ownsFunctions: boolean;
  readonly ownsSchema: boolean;
  readonly deletes: boolean;
}

/** A member of a role has its rights, or may take them. The owner of a schema may drop what is in it. */
const READ_RIGHTS = `
  SELECT current_user AS role, (SELECT rolsuper FROM pg_roles WHERE rolname = current_user) AS superuser,
    (SELECT rolcreaterole FROM pg_roles WHERE rolname = current_user)
      AND current_setting('server_version_num')::int < 160000 AS "makesMembers",
    pg_has_role(current_user, c.relowner, 'MEMBER') AS "ownsTable",
    (SELECT coalesce(bool_or(pg_has_role(current_user, p.proowner, 'MEMBER')), false) FROM pg_trigger AS t
      JOIN pg_proc AS p ON p.oid = t.tgfoid WHERE t.tgrelid = c.oid AND NOT t.tgisinternal) AS "ownsFunctions",
    pg_has_role(current_user, n.nspowner, 'MEMBER') AS "ownsSchema",
    has_table_privilege(c.oid, 'DELETE') OR has_table_privilege(c.oid, 'TRUNCATE') OR has_table_privilege(c.oid, 'TRIGGER')
      OR has_table_privilege(c.oid, 'UPDATE') AS deletes
  FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace WHERE c.oid = 'audit'::regclass`;

/** Why the role could change the audit; empty: it may only add to it. */
export async function listWaysRoundAudit(manager: EntityManager): Promise<{ role: string; ways: string[] }> {
  const [rights] = await manager.query<Rights[]>(READ_RIGHTS);
  if (!rights) throw new Error('the table audit is not there');
  const ways = [
    ...(rights.superuser ? ['is a superuser'] : []),
    ...(rights.makesMembers ? ['has CREATEROLE, which before PostgreSQL 16 makes it a member of any role'] : []),
    ...(rights.ownsTable ? ['owns the table, or is a member of the role that does'] : []),
    ...(rights.ownsFunctions ? ['owns a function of its triggers'] : []),
    ...(rights.ownsSchema ? ['owns the schema (in `public`: the database), and so may drop the table'] : []),
    ...(rights.deletes && !rights.ownsTable ? ['has UPDATE, DELETE, TRUNCATE or TRIGGER on the whole table'] : []),
  ];
  return { role: rights.role, ways };
}
