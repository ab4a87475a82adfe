/**
 * Keeps what one server holds, as an RDB of its own beside the live files: dbfilename is changed for the length of one
 * BGSAVE and then changed back. Invariants: the live files are never written over; the name is back to what it was before
 * this returns or throws, or the next full copy from a primary would be written over what was kept. dbfilename is a
 * protected directive: pods whose entrypoint did not allow it yet refuse, and keep nothing.
 */
import type { RedisCommand } from './assert-command-allowed.ts';
import { done, refused } from './command-outcome.ts';
import type { CommandOutcome } from './command-outcome.ts';
import { parseInfo } from './parse-info.ts';
import type { InfoFields } from './parse-info.ts';
import type { Reply } from './standing-connection.ts';

type Run = (commands: readonly RedisCommand[]) => Promise<readonly Reply[]>;

/** As the entrypoint sets it. */
const LIVE_FILE = 'dump.rdb';
const FILE = /^(set-aside-[a-z0-9-]{1,200}|final-[0-9]{1,15})\.rdb$/;
const POLL_MS = 50;

/** DONE once the file is complete on the disk. `timeoutMs` bounds each of the two waits. */
export const setAsideCopy = async (run: Run, file: string, timeoutMs: number): Promise<CommandOutcome> => {
  if (!FILE.test(file)) return refused('BAD_NAME', `${file} is no name for a file that is set aside.`);
  if ((await untilIdle(run, timeoutMs)) === undefined) return refused('BUSY', 'Another save of this server goes on.');
  const [renamed] = await run([['CONFIG', 'SET', 'dbfilename', file]]);
  if (renamed?.ok !== true) {
    return refused('PROTECTED', 'This server does not let its file name be changed, so nothing can be set aside.');
  }
  try {
    return await save(run, timeoutMs);
  } finally {
    await restoreName(run);
  }
};

const save = async (run: Run, timeoutMs: number): Promise<CommandOutcome> => {
  const [started] = await run([['BGSAVE']]);
  if (started?.ok !== true) return refused('SAVE_REFUSED', 'The server refused BGSAVE.');
  const info = await untilIdle(run, timeoutMs);
  if (info === undefined) return refused('SAVE_SLOW', 'The save has not ended in time.');
  return info['rdb_last_bgsave_status'] === 'ok'
    ? done
    : refused('SAVE_FAILED', 'The save failed; see the log of Redis.');
};

/** A name that was not put back must not go unnoticed. */
const restoreName = async (run: Run): Promise<void> => {
  const [restored] = await run([['CONFIG', 'SET', 'dbfilename', LIVE_FILE]]);
  if (restored?.ok !== true) throw new Error('The name of the live file could not be set back; restart this pod.');
};

/** INFO once no save runs; undefined when one still does after `timeoutMs`. */
const untilIdle = async (run: Run, timeoutMs: number): Promise<InfoFields | undefined> => {
  const endsAtMs = performance.now() + timeoutMs;
  for (;;) {
    const [reply] = await run([['INFO', 'persistence']]);
    const info = parseInfo(reply?.ok === true && typeof reply.value === 'string' ? reply.value : '');
    if (info['rdb_bgsave_in_progress'] === '0' && info['aof_rewrite_in_progress'] !== '1') return info;
    if (performance.now() > endsAtMs) return undefined;
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
};
