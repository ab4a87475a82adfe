import { describe, expect, it } from 'vitest';
import type { CommandOutcome, RedisLink, ReplicaView, SentinelLink } from '#redis';
import { steerSentinel } from './steer-sentinel.ts';

const DONE: CommandOutcome = { outcome: 'DONE' };
const view = (host: string, change: Partial<ReplicaView> = {}): ReplicaView => ({
  host,
  port: 6379,
  priority: 100,
  flags: ['slave'],
  infoAgeMs: 0,
  offsetBytes: 7,
  ...change,
});

/** One replica that answers, at offset 7, and what the Sentinel knows; a priority that is set is seen at once. */
const arrange = (others: readonly ReplicaView[], silentHosts: readonly string[] = []) => {
  const sent: string[] = [];
  let priority = 100;
  const link = {
    host: 'a',
    port: 6379,
    configSet: (values: Record<string, string>) => {
      priority = Number(values['replica-priority']);
      sent.push(`priority ${priority}`);
      return Promise.resolve(DONE);
    },
  } as unknown as RedisLink;
  const sentinel = {
    replicaViews: () => Promise.resolve([view('a', { priority, infoAgeMs: -1 }), ...others]),
    setInfoPeriod: (periodMs: number) => {
      sent.push(`period ${periodMs}`);
      return Promise.resolve(DONE);
    },
  } as unknown as SentinelLink;
  const followers = [{ link, runId: 'run-a', offsetBytes: 7 }];
  return { sent, steering: { sentinel, masterName: 'm', followers, silentHosts, assertMayWrite: () => undefined } };
};

describe('steering a Sentinel before it is told to fail over', () => {
  it('prefers the one that answers to one that is gone, and takes that back', async () => {
    const { sent, steering } = arrange([view('gone')]);
    const undo = await steerSentinel(steering);
    expect(sent).toEqual(['priority 1', 'period 100']);
    await undo();
    expect(sent.slice(2).sort()).toEqual(['period 2000', 'priority 100']);
  });

  it.each([
    ['a pod that exists is silent, and may be further', [view('silent')], ['silent']],
    ['the one that is gone was further', [view('gone', { offsetBytes: 8 })], []],
    ['the Sentinel would not choose it', [view('gone', { flags: ['slave', 's_down'] })], []],
    ['there is nobody else', [], []],
  ])('leaves the choice to the Sentinel when %s', async (_why, others, silentHosts) => {
    const { sent, steering } = arrange(others, silentHosts);
    await (
      await steerSentinel(steering)
    )();
    expect(sent).toEqual([]);
  });
});
