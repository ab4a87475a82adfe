/**
 * Runs the embedded PostgreSQL for a hub without DATABASE_URL: one server per data folder, as an unprivileged uid, on a
 * unix socket only that uid (and root) can reach. A server that outlived a killed hub is adopted when it answers, and
 * replaced when it does not. Not for production: one machine, no replica, no backup.
 */
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { chmod, chown, mkdir, open, readFile, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { tmpdir } from 'node:os';
import pg from 'pg';

import { preparePostgresBinaries, type PostgresBinaries } from './postgres-binaries.ts';
import { choosePostgresFolder } from './postgres-folder.ts';
import { signalServer } from './signal-server.ts';
import { findPostmaster, waitUntilGone, type Postmaster } from './postmaster-file.ts';

/** `nobody`: PostgreSQL refuses root, and initdb wants a uid that has an entry in the passwd file. */
const UNPRIVILEGED_ID = 65_534;
/** sockaddr_un holds 107 bytes. */
const MAX_SOCKET_PATH_BYTES = 100;
const START_TIMEOUT_MS = 30_000;
const DATABASE = 'atoll';
const USER = 'atoll';

export interface EmbeddedPostgres {
  /** `postgres://atoll@localhost/atoll?host=<socket folder>` */
  readonly databaseUrl: string;
  readonly pid: number;
  /** True when the server was already running. */
  readonly adopted: boolean;
  stop(): Promise<void>;
}

interface Owner {
  readonly uid: number;
  readonly gid: number;
}

interface Folders {
  readonly data: string;
  readonly socket: string;
  readonly log: string;
  readonly binaries: string;
}

/** `warn` is told what a user should know. Throws when the server does not start, with the end of its log. */
export async function startEmbeddedPostgres(dataDir: string, warn: (text: string) => void): Promise<EmbeddedPostgres> {
  const owner = process.getuid?.() === 0 ? { uid: UNPRIVILEGED_ID, gid: UNPRIVILEGED_ID } : undefined;
  const folders = await prepareFolders(dataDir, owner, warn);
  const left = await findPostmaster(folders.data);
  if (left && left !== 'stale') {
    const databaseUrl = formatUrl(left.socketDir, DATABASE);
    if (await answersWithin(left.socketDir, 5_000)) return toHandle(left, databaseUrl, true);
    warn(`an unresponsive PostgreSQL (pid ${left.pid}) of this data folder is replaced`);
    await stopServer(left.pid);
  }
  if (left === 'stale') await rm(join(folders.data, 'postmaster.pid'), { force: true });
  await rm(join(folders.socket, '.s.PGSQL.5432.lock'), { force: true });
  const binaries = await preparePostgresBinaries(folders.binaries, owner?.uid);
  await initialise(binaries, folders, owner);
  const pid = await launch(binaries, folders, owner);
  return toHandle({ pid, socketDir: folders.socket }, formatUrl(folders.socket, DATABASE), false);
}

const formatUrl = (socketDir: string, database: string): string =>
  `postgres://${USER}@localhost/${database}?host=${encodeURIComponent(socketDir)}`;

async function toHandle(server: Postmaster, databaseUrl: string, adopted: boolean): Promise<EmbeddedPostgres> {
  await createDatabase(server.socketDir);
  return { databaseUrl, pid: server.pid, adopted, stop: () => stopServer(server.pid) };
}

async function prepareFolders(
  dataDir: string,
  owner: Owner | undefined,
  warn: (text: string) => void,
): Promise<Folders> {
  const root = await choosePostgresFolder(dataDir, owner !== undefined, warn);
  const inside = join(root, 'run');
  const fits = Buffer.byteLength(join(inside, '.s.PGSQL.5432')) <= MAX_SOCKET_PATH_BYTES;
  const hash = createHash('sha256').update(root).digest('hex').slice(0, 12);
  const socket = fits ? inside : join(tmpdir(), `atoll-postgres-${hash}`);
  await mkdir(root, { recursive: true, mode: 0o755 });
  await mkdir(socket, { recursive: true, mode: 0o700 });
  for (const folder of [root, socket]) {
    await chmod(folder, 0o700);
    if (owner) await chown(folder, owner.uid, owner.gid);
  }
  return { data: join(root, 'data'), socket, log: join(root, 'server.log'), binaries: join(root, 'binaries') };
}

/** initdb into a folder of another name, renamed when whole: a killed first start leaves nothing half made. */
async function initialise(binaries: PostgresBinaries, folders: Folders, owner: Owner | undefined): Promise<void> {
  const done = await readFile(join(folders.data, 'PG_VERSION'), 'utf8').catch(() => undefined);
  if (done !== undefined) return;
  const partial = `${folders.data}.partial`;
  await rm(partial, { recursive: true, force: true });
  const args = ['-D', partial, '-U', USER, '-A', 'trust', '-E', 'UTF8', '--locale=C'];
  const { code, output } = await run(binaries.initdb, args, owner, dirname(folders.data));
  if (code !== 0) throw new Error(`initdb failed: ${output.slice(-2_000)}`);
  await rename(partial, folders.data);
}

function run(
  file: string,
  args: string[],
  owner: Owner | undefined,
  cwd: string,
): Promise<{ code: number | null; output: string }> {
  return new Promise((done, failed) => {
    const child = spawn(file, args, { ...owner, cwd, env: serverEnvironment(), stdio: ['ignore', 'pipe', 'pipe'] });
    let output = '';
    child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()));
    child.stderr.on('data', (chunk: Buffer) => (output += chunk.toString()));
    child.on('error', failed);
    child.on('close', (code) => done({ code, output }));
  });
}

/** The server inherits nothing of the hub's environment, which may hold secrets. */
const serverEnvironment = (): NodeJS.ProcessEnv => ({ PATH: '/usr/bin:/bin', LC_ALL: 'C', TZ: 'UTC' });

/**
 * Status touches pages all over a large fleet, and the first touch after a checkpoint writes the whole page to the log: with
 * the defaults that is most of what a busy hub writes. So checkpoints are rare and pages are compressed. A crash is
 * repaired from at most 2 GB of log.
 */
const SETTINGS = [
  'listen_addresses=',
  'max_connections=80',
  'unix_socket_permissions=0700',
  'log_statement=none',
  'shared_buffers=256MB',
  'checkpoint_timeout=15min',
  'max_wal_size=2GB',
  'wal_compression=pglz',
];

async function launch(binaries: PostgresBinaries, folders: Folders, owner: Owner | undefined): Promise<number> {
  const log = await open(folders.log, 'a', 0o640);
  if (owner) await log.chown(owner.uid, owner.gid);
  const args = ['-D', folders.data, '-k', folders.socket, ...SETTINGS.flatMap((setting) => ['-c', setting])];
  // Detached: a Ctrl-C in the terminal must reach the hub alone, which stops the server after its own work.
  const child = spawn(binaries.postgres, args, {
    ...owner,
    cwd: dirname(folders.data),
    env: serverEnvironment(),
    detached: true,
    stdio: ['ignore', log.fd, log.fd],
  });
  const exited = new Promise<never>((_, failed) => {
    child.on('error', failed);
    child.on('exit', (code) => failed(new Error(`PostgreSQL ended with ${code}`)));
  });
  exited.catch(() => undefined);
  try {
    const answers = await Promise.race([answersWithin(folders.socket, START_TIMEOUT_MS), exited]);
    if (!answers || child.pid === undefined) throw new Error('PostgreSQL does not answer');
  } catch (cause) {
    const text = await readFile(folders.log, 'utf8').catch(() => '');
    throw new Error(`the embedded PostgreSQL did not start: ${text.slice(-1_000)}`, { cause });
  } finally {
    await log.close();
  }
  child.unref();
  return child.pid;
}

async function answersWithin(socketDir: string, timeoutMs: number): Promise<boolean> {
  for (const end = performance.now() + timeoutMs; performance.now() < end;) {
    const client = new pg.Client({
      connectionString: formatUrl(socketDir, 'postgres'),
      connectionTimeoutMillis: 2_000,
    });
    client.on('error', () => undefined);
    try {
      await client.connect();
      await client.query('SELECT 1');
      return true;
    } catch {
      await new Promise((done) => setTimeout(done, 25));
    } finally {
      await client.end().catch(() => undefined);
    }
  }
  return false;
}

async function createDatabase(socketDir: string): Promise<void> {
  const client = new pg.Client({ connectionString: formatUrl(socketDir, 'postgres') });
  await client.connect();
  try {
    const found = await client.query('SELECT 1 FROM pg_database WHERE datname = $1', [DATABASE]);
    if (found.rowCount === 0) await client.query(`CREATE DATABASE ${DATABASE}`);
  } finally {
    await client.end();
  }
}

/** Fast shutdown (SIGINT), then immediate (SIGQUIT). Never SIGKILL: it leaves shared memory behind. */
async function stopServer(pid: number): Promise<void> {
  for (const [signal, timeoutMs] of [
    ['SIGINT', 15_000],
    ['SIGQUIT', 5_000],
  ] as const) {
    try {
      process.kill(pid, signal);
    } catch {
      return;
    }
    // A frozen process takes no signal before it goes on.
    await signalServer(pid, 'SIGCONT');
    if (await waitUntilGone(pid, timeoutMs)) return;
  }
  throw new Error(`PostgreSQL (pid ${pid}) does not stop`);
}
