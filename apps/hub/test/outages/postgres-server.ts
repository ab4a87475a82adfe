/** PostgreSQL servers of a test's own, on ports of loopback: a primary, a standby that is promoted, one with limits. */
import { spawn, type ChildProcess } from 'node:child_process';
import { chmod, chown, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';

import { claimPort } from '#testing';
import { runCommand } from '../../../../tools/setup/run-command.ts';
import { startEmbeddedPostgres } from '../../src/platform/database/embedded-postgres.ts';
import { preparePostgresBinaries } from '../../src/platform/database/postgres-binaries.ts';

/** `nobody`, as which the embedded server was made; PostgreSQL refuses root. */
const OWNER = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {};
const SETTINGS = ['shared_buffers=32MB', 'wal_keep_size=64MB', 'fsync=off', 'unix_socket_directories='];

export class PostgresServer {
  readonly port: number;
  readonly folder: string;
  readonly #process: ChildProcess;

  private constructor(folder: string, port: number, child: ChildProcess) {
    [this.folder, this.port, this.#process] = [folder, port, child];
  }

  /** Its files, with the database `atoll`. */
  static async make(): Promise<string> {
    const folder = await mkdtemp(join(tmpdir(), 'atoll-server-'));
    await chmod(folder, 0o711);
    const made = await startEmbeddedPostgres(folder, () => undefined);
    const client = new pg.Client({ connectionString: made.databaseUrl });
    await client.connect();
    const { rows } = await client.query<{ data_directory: string }>('SHOW data_directory');
    await client.end();
    await made.stop();
    const files = join(folder, 'files');
    await runCommand(['cp', '-a', rows[0]?.data_directory ?? '', files]);
    return files;
  }

  /** A copy of the files of a server that does not run. */
  static async copy(files: string, name: string): Promise<string> {
    const copied = join(files, '..', name);
    await runCommand(['cp', '-a', files, copied]);
    return copied;
  }

  /** `follow`: the port of the primary whose standby it is. */
  static async start(files: string, follow?: number): Promise<PostgresServer> {
    const port = await claimPort();
    if (follow !== undefined) {
      await writeFile(join(files, 'standby.signal'), '');
      if (OWNER.uid !== undefined) await chown(join(files, 'standby.signal'), OWNER.uid, OWNER.gid);
    }
    const primary = follow === undefined ? [] : [`primary_conninfo=host=127.0.0.1 port=${follow} user=atoll`];
    const { postgres } = await preparePostgresBinaries(join(files, '..', 'binaries'), OWNER.uid);
    const settings = ['listen_addresses=127.0.0.1', `port=${port}`, ...SETTINGS, ...primary];
    const args = ['-D', files, ...settings.flatMap((each) => ['-c', each])];
    const env = { PATH: '/usr/bin:/bin', LC_ALL: 'C', TZ: 'UTC' };
    const child = spawn(postgres, args, { ...OWNER, cwd: '/', env, stdio: 'ignore' });
    const server = new PostgresServer(files, port, child);
    await server.untilAnswers();
    return server;
  }

  get pid(): number {
    return this.#process.pid ?? 0;
  }

  url(database = 'atoll'): string {
    return `postgres://atoll@127.0.0.1:${this.port}/${database}`;
  }

  async query<T extends pg.QueryResultRow>(sql: string, database = 'atoll'): Promise<T[]> {
    const client = new pg.Client({ connectionString: this.url(database) });
    client.on('error', () => undefined);
    await client.connect();
    try {
      return (await client.query<T>(sql)).rows;
    } finally {
      await client.end();
    }
  }

  async untilAnswers(): Promise<void> {
    for (const end = performance.now() + 30_000; performance.now() < end; await sleep(50)) {
      if (this.#process.exitCode !== null) throw new Error('PostgreSQL ended at its start');
      const answers = await this.query('SELECT 1').then(
        () => true,
        () => false,
      );
      if (answers) return;
    }
    throw new Error('PostgreSQL does not answer');
  }

  /** SIGINT: as for an upgrade. SIGQUIT: as a host that is gone. */
  async stop(signal: 'SIGINT' | 'SIGQUIT' = 'SIGINT'): Promise<void> {
    if (this.#process.exitCode !== null) return;
    const ended = new Promise((done) => this.#process.once('exit', done));
    this.#process.kill(signal);
    await ended;
  }
}

export const removeServer = (files: string): Promise<void> => rm(join(files, '..'), { recursive: true, force: true });
