/** The real liveness probe against real servers: what answers is alive, what loads or works is, what stands still is not. */
import { spawn, type ChildProcess } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { afterEach, beforeAll, describe, expect, it, type TestContext } from 'vitest';
import { claimPort, GUARD, GUARD_SCENE, startGuard } from '#testing';
import { ensureEnginePrograms, type EngineProgram } from '../../../../tools/local-kubernetes/index.ts';

const HOST = '127.0.0.1';
const SENTINEL = `user sentinel on >${GUARD.passwords.sentinel} ~* &* +@all`;
const LOST_PRIMARY = [`replicaof ${HOST} 1`];
/** Some three MiB of keys, so that a look at the connections is due once in the load, by itself. */
const FILL = `for at = 1, 3000 do redis.call('SET', 'key:' .. at, string.rep('x', 1000)) end`;
/** A minute for all of it. The server is killed long before. */
const SLOW_LOAD = ['key-load-delay 20000'];
/** Until a started server reads its file. One that does not yet is refused, and the look fails. */
const LOADS_AFTER_MS = 500;
const endings: (() => void)[] = [];
afterEach(() => {
  for (const end of endings.splice(0).reverse()) end();
});

interface Server {
  readonly port: number;
  readonly child: ChildProcess;
  readonly folder: string;
}

const makeFolder = (): string => {
  const folder = mkdtempSync(join(tmpdir(), 'liveness-'));
  endings.push(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
};

const startServer = async (
  programs: EngineProgram,
  lines: readonly string[],
  folder = makeFolder(),
): Promise<Server> => {
  const port = await claimPort();
  const file = join(folder, 'redis.conf');
  const own = [`port ${port}`, `bind ${HOST}`, `dir ${folder}`, 'save ""', 'rdbcompression no'];
  writeFileSync(file, [...own, ...lines, ''].join('\n'));
  const [program, ...words] = programs('redis-server');
  const child = spawn(program, [...words, file], { stdio: 'ignore' });
  endings.push(() => child.kill('SIGKILL'));
  return { port, child, folder };
};

/** A client of the user `default`, connected; it is there until the test ends. */
const connect = async ({ port }: Server): Promise<Redis> => {
  const client = new Redis({ host: HOST, port, retryStrategy: () => 20, enableReadyCheck: false });
  client.on('error', () => undefined);
  endings.push(() => client.disconnect());
  await client.ping().catch(() => undefined);
  return client;
};

interface Look {
  readonly alive: boolean;
  /** What redis-cli printed. */
  readonly answer: string;
  /** What the probe notes for its next look. */
  readonly work: string;
}

/** One look of the probe. `before`: the look that came before it. */
const look = (programs: EngineProgram, { port, child }: Server, before?: Look): Look => {
  const cli = `#!/bin/sh\n${programs('redis-cli').join(' ')} -h ${HOST} -p ${port} | tee "$FAKE/said"\n`;
  const run = startGuard(
    {
      spec: GUARD_SCENE.spec('Standalone'),
      programs: { 'redis-cli': cli },
      ...(child.pid === undefined ? {} : { serverPid: child.pid }),
      ...(before === undefined ? {} : { state: { work: before.work } }),
    },
    'probe-redis.sh',
    undefined,
    ['liveness'],
  );
  return { alive: run.status === 0, answer: run.read('bin/said'), work: run.read('run/work') };
};

const ENGINES = ['redis:7.0', 'redis:8.0', 'redis:8.6', 'valkey:8.1', 'valkey:9.1'] as const;

describe.each(ENGINES)('the liveness probe of %s', (engine) => {
  let found: Awaited<ReturnType<typeof ensureEnginePrograms>>;
  beforeAll(async () => {
    found = await ensureEnginePrograms(engine);
  });
  const programsOf = ({ skip }: TestContext): EngineProgram => ('unavailable' in found ? skip(found.reason) : found);

  it('takes a server that serves for alive', async (context) => {
    const programs = programsOf(context);
    const server = await startServer(programs, [SENTINEL]);
    await connect(server);
    expect(look(programs, server)).toEqual({ alive: true, answer: 'OK\nPONG\n', work: '' });
  });

  it.for([
    ['refuses the password', 'WRONGPASS', ['user sentinel on >another +@all']],
    ['forbids PING', 'NOPERM', [`${SENTINEL} -ping`]],
    [
      'lost its primary and serves no old data',
      'MASTERDOWN',
      [SENTINEL, ...LOST_PRIMARY, 'replica-serve-stale-data no'],
    ],
    ['lost its primary and serves old data', 'PONG', [SENTINEL, ...LOST_PRIMARY]],
    ['has as many clients as it takes', 'max number of clients', [SENTINEL, 'maxclients 1']],
  ] as const)('takes a server that %s for alive', async ([, answer, lines], context) => {
    const programs = programsOf(context);
    const server = await startServer(programs, lines);
    await connect(server);
    const seen = look(programs, server);
    expect(seen.answer).toContain(answer);
    expect(seen.alive).toBe(true);
  });

  it('takes a server that loads for alive, whether it answers or is between two looks at its connections', async (context) => {
    const programs = programsOf(context);
    const folder = makeFolder();
    const before = await startServer(programs, [], folder);
    const client = await connect(before);
    await client.eval(FILL, 0);
    await client.save();
    client.disconnect();
    const often = await startServer(
      programs,
      [SENTINEL, ...SLOW_LOAD, 'loading-process-events-interval-bytes 2048'],
      folder,
    );
    await sleep(LOADS_AFTER_MS);
    const seen = look(programs, often);
    expect(seen).toMatchObject({ alive: true, answer: expect.stringContaining('LOADING') as string });
    often.child.kill('SIGKILL');
    const seldom = await startServer(programs, [SENTINEL, ...SLOW_LOAD], folder);
    await sleep(LOADS_AFTER_MS);
    const first = look(programs, seldom);
    const second = look(programs, seldom, first);
    expect([first, second]).toMatchObject([
      { alive: true, answer: '' },
      { alive: true, answer: '' },
    ]);
    expect(second.work).not.toBe(first.work);
  });

  it('takes a server with a script that does not end for alive', async (context) => {
    const programs = programsOf(context);
    const server = await startServer(programs, [SENTINEL, 'lua-time-limit 100']);
    const client = await connect(server);
    client.eval('while true do end', 0).catch(() => undefined);
    await sleep(300);
    expect(look(programs, server)).toMatchObject({ alive: true, answer: expect.stringContaining('BUSY') as string });
  });
});

describe('the liveness probe of a server that does not answer', () => {
  const startSilent = async (): Promise<{ programs: EngineProgram; server: Server }> => {
    const programs = await ensureEnginePrograms('redis:7.0');
    if ('unavailable' in programs) throw new Error(programs.reason);
    const server = await startServer(programs, [SENTINEL]);
    await connect(server);
    return { programs, server };
  };

  it('does not take a process that stands still for alive, from the second look on', async () => {
    const { programs, server } = await startSilent();
    server.child.kill('SIGSTOP');
    const first = look(programs, server);
    expect([first.alive, look(programs, server, first).alive]).toEqual([true, false]);
  });

  it('does not take a process that has ended for alive', async () => {
    const { programs, server } = await startSilent();
    const ended = new Promise((resolve) => server.child.once('exit', resolve));
    server.child.kill('SIGKILL');
    await ended;
    expect(look(programs, server)).toMatchObject({ alive: false, answer: '' });
  });
});
