/** What the real servers cannot be brought to on demand: a hand-over whose answer to the old primary is lost. */
import { describe, expect, it } from 'vitest';
import type { RedisLink } from '#redis';
import type { Handover } from './execute-switch-over.ts';
import { switchOverByCommand } from './switch-over-by-command.ts';

const done = () => Promise.resolve({ outcome: 'DONE' as const });

/** The old primary has stepped down and waits for the target's answer, which never comes. */
const stuck = (targetRole: 'master' | 'slave') => {
  const sent: string[] = [];
  const from = {
    probe: () => Promise.resolve({ reachable: true, role: 'slave', failoverState: 'failover-in-progress' }),
    beginFailover: done,
    abortFailover: () => {
      sent.push('ABORT');
      return done();
    },
    replicaOf: done,
  } as unknown as RedisLink;
  const to = { probe: () => Promise.resolve({ reachable: true, role: targetRole }) } as unknown as RedisLink;
  const handover = {
    action: { from: 'redis-0', to: 'redis-1', fromRunId: 'a', toRunId: 'b' },
    context: { assertMayWrite: () => undefined },
    ...{ from, to, others: [] },
  } as unknown as Handover;
  return { sent, run: () => switchOverByCommand(handover, { catchUpMs: 20, overWithinMs: 50 }) };
};

describe('a hand-over by FAILOVER that does not end in time', () => {
  it('is never aborted once the target is primary: the old one would be a second one', async () => {
    const { sent, run } = stuck('master');
    await run();
    expect(sent).toEqual([]);
  });

  it('is aborted while the target is none, so that writes go on at the old one', async () => {
    const { sent, run } = stuck('slave');
    await expect(run()).rejects.toMatchObject({ code: 'NOT_CAUGHT_UP' });
    expect(sent).toEqual(['ABORT']);
  });
});
