import { describe, expect, it } from 'vitest';
import type { RedisCommand } from './assert-command-allowed.ts';
import { setAsideCopy } from './set-aside-copy.ts';
import type { Reply } from './standing-connection.ts';

const FILE = 'set-aside-orders-0-abcdef01-42.rdb';
const saved = (status: string, busy = '0'): string =>
  `rdb_bgsave_in_progress:${busy}\r\nrdb_last_bgsave_status:${status}\r\naof_rewrite_in_progress:0`;

const scripted = (answers: Partial<Record<string, Reply>>) => {
  const sent: string[] = [];
  const run = async (commands: readonly RedisCommand[]): Promise<readonly Reply[]> =>
    Promise.resolve(
      commands.map((command) => {
        const text = command.join(' ');
        sent.push(text);
        return answers[text] ?? answers[command[0]] ?? { ok: true, value: 'OK' };
      }),
    );
  return { sent, run };
};
const info = (text: string): Reply => ({ ok: true, value: text });

describe('setting aside', () => {
  it('saves under another name and puts the live name back', async () => {
    const { sent, run } = scripted({ INFO: info(saved('ok')) });
    expect(await setAsideCopy(run, FILE, 100)).toEqual({ outcome: 'DONE' });
    expect(sent).toEqual([
      'INFO persistence',
      `CONFIG SET dbfilename ${FILE}`,
      'BGSAVE',
      'INFO persistence',
      'CONFIG SET dbfilename dump.rdb',
    ]);
  });

  it('puts the live name back when the save fails, and says so', async () => {
    const { sent, run } = scripted({ INFO: info(saved('err')) });
    expect(await setAsideCopy(run, FILE, 100)).toMatchObject({ outcome: 'REFUSED', code: 'SAVE_FAILED' });
    expect(sent.at(-1)).toBe('CONFIG SET dbfilename dump.rdb');
  });

  it('saves nothing where the name is protected, or another save does not end', async () => {
    const no: Reply = { ok: false, error: "ERR can't set protected config" };
    const protectedName = scripted({ INFO: info(saved('ok')), [`CONFIG SET dbfilename ${FILE}`]: no });
    expect(await setAsideCopy(protectedName.run, FILE, 100)).toMatchObject({ code: 'PROTECTED' });
    const busy = scripted({ INFO: info(saved('ok', '1')) });
    expect(await setAsideCopy(busy.run, FILE, 60)).toMatchObject({ code: 'BUSY' });
    expect([...protectedName.sent, ...busy.sent]).not.toContain('BGSAVE');
  });

  it.each(['dump.rdb', '../etc/passwd', 'set-aside-../x.rdb'])('never saves as %s', async (file) => {
    const { sent, run } = scripted({});
    expect(await setAsideCopy(run, file, 100)).toMatchObject({ code: 'BAD_NAME' });
    expect(sent).toEqual([]);
  });
});
