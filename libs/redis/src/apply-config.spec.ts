import { expect, it } from 'vitest';
import { applyConfig } from './apply-config.ts';
import type { RedisCommand } from './assert-command-allowed.ts';
import type { Reply } from './standing-connection.ts';

/** Answers as Redis 7.0.15 does: the first bad directive refuses all, hz is clamped. */
const serverThatKnows = (bad: Readonly<Record<string, string>>) => {
  const sent: RedisCommand[] = [];
  const send = async (command: RedisCommand): Promise<readonly Reply[]> => {
    sent.push(command);
    const [, verb, ...args] = command;
    if (verb === 'GET') return [{ ok: true, value: args.flatMap((name) => [name, name === 'hz' ? '500' : 'set']) }];
    const culprit = args.find((name) => bad[name] !== undefined);
    return [culprit === undefined ? { ok: true, value: 'OK' } : { ok: false, error: bad[culprit] ?? '' }];
  };
  return { send, sent };
};
const RELATED = (name: string, why: string): string =>
  `ERR CONFIG SET failed (possibly related to argument '${name}') - ${why}`;

it('sends one command when all is well, and reads back what the server made of it', async () => {
  const { send, sent } = serverThatKnows({});
  expect(await applyConfig(send, { hz: '501', a: '1' })).toEqual({ refused: {}, live: { hz: '500', a: 'set' } });
  expect(sent).toHaveLength(2);
});

it('takes out what the server names, with its reason, and sets the rest in one command', async () => {
  const { send, sent } = serverThatKnows({
    b: RELATED('b', 'argument must be yes or no'),
    c: "ERR Unknown option or number of arguments for CONFIG SET - 'c'",
  });
  const { refused, live } = await applyConfig(send, { a: '1', b: '2', c: '3', d: '4' });
  expect(refused).toEqual({
    b: 'argument must be yes or no',
    c: 'unknown directive, or a wrong number of arguments',
  });
  expect(live).toEqual({ a: 'set', d: 'set' });
  expect(sent.at(-2)).toEqual(['CONFIG', 'SET', 'a', '1', 'd', '4']);
});

it('a server that refuses everything says nothing of a directive', async () => {
  const { send } = serverThatKnows({ a: 'LOADING Redis is loading the dataset in memory' });
  await expect(applyConfig(send, { a: '1' })).rejects.toThrow('LOADING');
});
