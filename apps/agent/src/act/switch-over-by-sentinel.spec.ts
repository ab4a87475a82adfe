import { describe, expect, it } from 'vitest';
import type { CommandOutcome, RedisLink, SentinelLink } from '#redis';
import type { Handover } from './execute-switch-over.ts';
import type { ExecutionContext } from './execution-context.ts';
import { switchOverBySentinel } from './switch-over-by-sentinel.ts';

const DONE: CommandOutcome = { outcome: 'DONE' };
const refusal = (code: string): CommandOutcome => ({ outcome: 'REFUSED', code, message: `Refused: ${code}.` });

/** Three level nodes and one Sentinel that answers as given; what changes anything is noted in the order it was sent. */
const arrange = (answers: { readonly mayFailOver?: CommandOutcome; readonly failOver?: CommandOutcome }) => {
  const sent: string[] = [];
  const note = (word: string, answer: CommandOutcome = DONE) => {
    return (): Promise<CommandOutcome> => {
      sent.push(word);
      return Promise.resolve(answer);
    };
  };
  const node = (host: string) =>
    ({
      host,
      port: 6379,
      probe: () => Promise.resolve({ reachable: true, runId: `run-${host}`, replicationId: 'h', offsetBytes: 7 }),
      configSet: note(`configSet ${host}`),
      pauseWrites: note('pauseWrites'),
      resumeWrites: note('resumeWrites'),
    }) as unknown as RedisLink;
  const [from, to, other] = ['a', 'b', 'c'].map(node) as [RedisLink, RedisLink, RedisLink];
  const sentinel = {
    mayFailOver: () => Promise.resolve(answers.mayFailOver ?? DONE),
    failOver: note('failOver', answers.failOver),
    setInfoPeriod: note('setInfoPeriod'),
    replicaViews: () =>
      Promise.resolve([
        { host: 'b', port: 6379, priority: 1, infoAgeMs: 500, flags: ['slave'] },
        { host: 'c', port: 6379, priority: 100, infoAgeMs: 500, flags: ['slave'] },
      ]),
  } as unknown as SentinelLink;
  const context = { assertMayWrite: () => undefined, findSentinel: () => sentinel } as unknown as ExecutionContext;
  const action = { to: 'b', from: 'a', fromRunId: 'run-a', masterName: 'm', sentinelPods: ['s'] };
  const handover = { action, context, from, to, others: [{ link: other, runId: 'run-c' }] } as unknown as Handover;
  return { sent, run: () => switchOverBySentinel(handover) };
};

describe('a hand-over that the Sentinel refuses', () => {
  it('is not begun where the Sentinel says so before: no writer is paused, nothing is changed', async () => {
    const { sent, run } = arrange({ mayFailOver: refusal('FAILOVER_IN_PROGRESS') });
    await expect(run()).rejects.toMatchObject({ code: 'FAILOVER_IN_PROGRESS' });
    expect(sent).toEqual([]);
  });

  it.each(['FAILOVER_IN_PROGRESS', 'NO_GOOD_REPLICA'])(
    'comes back with its reason, %s, and the writers go on at once',
    async (code) => {
      const { sent, run } = arrange({ failOver: refusal(code) });
      await expect(run()).rejects.toMatchObject({ code });
      const steps = sent.filter((word) => /pauseWrites|failOver|resumeWrites/.test(word));
      expect(steps).toEqual(['pauseWrites', 'failOver', 'resumeWrites']);
      expect(sent).toContain('configSet b');
    },
  );
});
