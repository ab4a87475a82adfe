/**
 * What is wrong with the database and what to do about it, one sentence an outage: for the log, for `/readyz` and for the
 * client whose request failed of it. Without it a read-only or a full database is "internal error" to everybody.
 */
import type { Outage } from './sql-state.ts';

const TEXT: Readonly<Record<Outage, string>> = {
  DATABASE_LACKS_PARTITION: 'the database has no partition for the present time yet; it is being made',
  DATABASE_READ_ONLY:
    'the database takes no writes: it is a standby, or default_transaction_read_only is on. Promote it, lead the address to the primary, or switch the setting off',
  DATABASE_DISK_FULL: 'the disk of the database is full: make room there, or make the volume larger',
  DATABASE_OUT_OF_MEMORY:
    'the database has run out of memory: give it more, or lower work_mem and max_connections; "out of shared memory" asks for a higher max_locks_per_transaction',
  DATABASE_OUT_OF_RESOURCES:
    'the database has reached a limit of its own: its log says which (temp_file_limit, open files, semaphores)',
  DATABASE_DISK_FAILS: 'the database cannot read or write its files: look at its disk and at its log',
  DATABASE_CORRUPTED:
    'the database has found damaged data: stop writing, keep a copy of its files, and restore a backup or repair it',
  DATABASE_LOCKED: 'somebody has locked a table or a row for longer than lock_timeout: look at pg_locks',
  DATABASE_LOGIN_REFUSED:
    'the database refuses this user or password: correct DATABASE_URL, or the role and pg_hba.conf',
  DATABASE_MISSING: 'the server has no such database: create or restore it, or correct DATABASE_URL',
  DATABASE_FULL:
    'the database has no free connection (max_connections; each replica takes up to 24): end other clients, or raise it',
  DATABASE_STARTING: 'the database is starting up or shutting down',
  DATABASE_REFUSED: 'nothing listens at the address of the database: is it running, is DATABASE_URL right?',
  DATABASE_UNREACHABLE:
    'the connection to the database is cut or its host is not known: look at the network and DATABASE_URL',
  DATABASE_SILENT: 'the database takes connections and does not answer: it hangs, or a firewall swallows what is sent',
};

export const explainOutage = (outage: Outage): string => TEXT[outage];
