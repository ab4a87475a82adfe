/**
 * The whole table of directives against real servers: every name of CONFIG GET * is owned by the operator, taken at a
 * start only, or set live to another value, read back as the same, and the same after a restart.
 */
import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, it } from 'vitest';
import { RESTART_ONLY_CONFIG, explainOwnedConfig, explainUnsafeConfig, isSameConfigValue } from '#domain';
import { RedisLink } from '#redis';
import { REVIEWED_DIRECTIVES, claimPort } from '#testing';
import { ensureEnginePrograms } from '../../../../tools/local-kubernetes/index.ts';

const HOST = '127.0.0.1';
/** Values where a neighbour of the present one would hurt the test, or where any text would do. */
const CHOSEN: Readonly<Record<string, string>> = {
  maxmemory: '100mb',
  'maxmemory-clients': '10%',
  timeout: '3000',
  save: '3600 1 60 1000',
  'notify-keyspace-events': 'EKA',
  'client-output-buffer-limit': 'pubsub 8MB 2m 60',
  'latency-tracking-info-percentiles': '50 99.90',
  'repl-backlog-size': '2mb',
};
/** Needs an allocator that these builds do not have. */
const NEEDS_ANOTHER_BUILD = new Set(['activedefrag']);

const isOffered = (name: string, present: string): boolean =>
  !NEEDS_ANOTHER_BUILD.has(name) && explainUnsafeConfig(name, present) === undefined;

const running: ChildProcess[] = [];
const folders: string[] = [];
const links: RedisLink[] = [];
afterEach(() => {
  for (const link of links.splice(0)) link.close();
  for (const child of running.splice(0)) child.kill('SIGKILL');
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

const start = async (command: readonly string[], lines: readonly string[]): Promise<RedisLink> => {
  const folder = mkdtempSync(join(tmpdir(), 'engine-table-'));
  folders.push(folder);
  const port = await claimPort();
  const file = join(folder, 'redis.conf');
  writeFileSync(file, [...lines, `port ${port}`, `dir ${folder}`, 'appendonly no', ''].join('\n'));
  const [program = '', ...words] = command;
  running.push(spawn(program, [...words, file], { stdio: 'ignore' }));
  const link = new RedisLink({ host: HOST, port, credentials: () => undefined });
  links.push(link);
  const deadline = performance.now() + 10_000;
  while (!(await link.probe()).reachable) {
    if (performance.now() > deadline) throw new Error(`no server with ${lines.join('; ')}`);
    await sleep(20);
  }
  return link;
};

/** Another valid value of a directive: chosen, the other boolean, another of the enum, or a number beside it. */
const candidates = (name: string, present: string, offered: readonly string[]): readonly string[] => {
  const chosen = CHOSEN[name];
  if (chosen !== undefined) return [chosen];
  if (present === 'yes' || present === 'no') return [present === 'yes' ? 'NO' : 'Yes'];
  if (offered.length > 0) return offered.filter((value) => value !== present).map((value) => value.toUpperCase());
  if (/^-?\d+$/.test(present)) return [1, -1].map((step) => String(Number(present) + step));
  return ['atoll'];
};

/** What an enum takes, out of the server's refusal of a word that none knows. */
const offeredBy = async (link: RedisLink, name: string): Promise<readonly string[]> => {
  const { refused } = await link.applyConfig({ [name]: 'no-such-word' });
  const list = /one of the following: (.*)$/.exec(refused[name] ?? '')?.[1] ?? '';
  return list.split(', ').filter((word) => /^[a-z-]+$/.test(word));
};

const setAnother = async (link: RedisLink, name: string, present: string): Promise<string | undefined> => {
  const isText = !/^(yes|no|-?\d+)$/.test(present) && CHOSEN[name] === undefined;
  const offered = isText && present !== '' ? await offeredBy(link, name) : [];
  for (const value of candidates(name, present, offered)) {
    const { refused, live } = await link.applyConfig({ [name]: value });
    if (refused[name] === undefined && isSameConfigValue(name, value, live[name] ?? '')) return value;
  }
  return undefined;
};

describe.each(['redis:7.0', 'redis:8.0', 'redis:8.6', 'valkey:8.1', 'valkey:9.1'] as const)(
  'a user of %s',
  (engine) => {
    it('may set no directive that nobody has looked at', async () => {
      const programs = await ensureEnginePrograms(engine);
      if ('unavailable' in programs) throw new Error(programs.reason);
      const link = await start(programs('redis-server'), []);
      const present = await link.configGet(['*']);
      const open = Object.keys(present).filter(
        (name) =>
          explainOwnedConfig(name) === undefined && explainUnsafeConfig(name, present[name] ?? '') === undefined,
      );
      expect(open.filter((name) => !REVIEWED_DIRECTIVES.has(name))).toEqual([]);
      expect(open.length).toBeGreaterThan(85);
    });
  },
);

describe.each(['redis:7.0', 'redis:8.0', 'valkey:8.1'] as const)('every directive of %s', (engine) => {
  it('is classified, set, compared, and the same after a restart', async () => {
    const programs = await ensureEnginePrograms(engine);
    if ('unavailable' in programs) throw new Error(programs.reason);
    const command = programs('redis-server');
    const link = await start(command, []);
    const present = await link.configGet(['*']);
    const names = Object.keys(present).filter((name) => explainOwnedConfig(name) === undefined);
    expect(Object.keys(present).length).toBeGreaterThan(190);
    const theirs = names.filter((name) => isOffered(name, present[name] ?? ''));
    const settable: string[] = [];
    for (const name of theirs.filter((each) => RESTART_ONLY_CONFIG.has(each))) {
      const { refused } = await link.applyConfig({ [name]: present[name] ?? '' });
      if (!/immutable/.test(refused[name] ?? '')) settable.push(name);
    }
    expect(settable).toEqual([]);
    const changed: Record<string, string> = {};
    for (const name of theirs.filter((each) => !RESTART_ONLY_CONFIG.has(each))) {
      const value = await setAnother(link, name, present[name] ?? '');
      if (value !== undefined) changed[name] = value;
    }
    expect(theirs.filter((name) => changed[name] === undefined && !RESTART_ONLY_CONFIG.has(name))).toEqual([]);
    expect(Object.keys(changed).length).toBeGreaterThan(85);

    const lines = Object.entries(changed).map(([name, value]) => `${name} ${value}`);
    const again = await start(command, lines);
    const live = await again.configGet(Object.keys(changed));
    const drifted = Object.keys(changed).filter(
      (name) => !isSameConfigValue(name, changed[name] ?? '', live[name] ?? ''),
    );
    expect(drifted).toEqual([]);
  });
});
