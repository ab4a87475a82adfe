import type { Welcome } from '#protocol';
import { EMPTY_DIGEST } from '#protocol';
import { afterEach, describe, expect, it, vi } from 'vitest';

import type { AgentPeer } from '../admission/agent-peer.ts';
import { type Beginning, DesiredSender } from './desired-sender.ts';
import type { DesiredRepository } from './desired.repository.ts';
import type { TargetRow } from './desired-target.ts';
import type { Turns } from './turns.ts';

/** A sender whose agent should hold nothing at all, at revision 3, and the types of what it sent. */
function begin(clock = { nowMs: 0, monotonicMs: 0 }): { readonly sender: DesiredSender; readonly sent: string[] } {
  const sent: string[] = [];
  const sender = new DesiredSender({
    agentId: 'a',
    sessionNo: 1,
    crdSchemaHash: '',
    peer: { send: (type: string) => Promise.resolve(sent.push(type)) } as unknown as AgentPeer,
    desired: {
      readAll: () => Promise.resolve({ revision: 3, rows: [] }),
      readChanges: () => Promise.resolve({ revision: 3, rows: [] }),
    } as unknown as DesiredRepository,
    turns: { run: <T>(work: () => Promise<T>) => work() } as unknown as Turns,
    nowMs: () => clock.nowMs,
    monotonicMs: () => clock.monotonicMs,
    onSettled: () => undefined,
    onFailure: (error) => expect(error).toBeUndefined(),
    onFenced: () => undefined,
  });
  return { sender, sent };
}

const beginning = {
  head: { revision: 3, ackedRevision: 3, digest: EMPTY_DIGEST },
  unsettled: [],
} as unknown as Beginning;

describe('a hint that comes before the session has begun', () => {
  it.each<[Welcome['mode'], readonly string[]]>([
    ['SNAPSHOT', ['SnapshotBegin', 'SnapshotEnd']],
    ['INVENTORY', []],
    ['DELTA', ['Delta']],
  ])('in %s sends nothing of its own', async (mode, expected) => {
    const { sender, sent } = begin();
    sender.wake();
    await new Promise((done) => setImmediate(done));
    expect(sent).toEqual([]);
    sender.start(mode, mode === 'SNAPSHOT' ? 0 : 2, beginning);
    await vi.waitFor(() => expect(sent).toEqual(expected));
  });
});

describe('an ack that is lost', () => {
  it.each([3_600_000, -3_600_000])('is waited for as long as ever after the clock stepped by %i ms', async (stepMs) => {
    const clock = { nowMs: 0, monotonicMs: 0 };
    const { sender, sent } = begin(clock);
    sender.start('DELTA', 2, beginning);
    await vi.waitFor(() => expect(sent).toHaveLength(1));
    clock.nowMs += stepMs;
    sender.askForDigest();
    await new Promise((done) => setImmediate(done));
    expect(sent).toHaveLength(1);
    clock.monotonicMs += 121_000;
    sender.askForDigest();
    await vi.waitFor(() => expect(sent).toHaveLength(2));
    sender.stop();
  });
});

describe('a delete that has passed while the database may be of yesterday', () => {
  afterEach(() => {
    vi.useRealTimers();
  });

  const doomed = {
    hubUid: 'doomed',
    deletion: 'DELETE',
    breaker: 'RELEASED',
    spec: '{}',
    approval: null,
    revision: 3,
  } as TargetRow;

  /** The delete is the change of revision 3; `open` opens the gate. */
  function beginGated(): { readonly sender: DesiredSender; readonly sent: object[]; readonly open: () => void } {
    let maySendDeletes = false;
    const sent: object[] = [];
    const readChanges: DesiredRepository['readChanges'] = (_session, after, again) => {
      const revision = after < 3 ? 3 : null;
      return Promise.resolve({
        revision: 3,
        rows: revision !== null || again.length > 0 ? [{ ...doomed, revision }] : [],
      });
    };
    const desired = {
      get maySendDeletes() {
        return maySendDeletes;
      },
      readAll: () => Promise.resolve({ revision: 3, rows: [doomed] }),
      readChanges,
      postpone: () => Promise.resolve(),
    };
    const sender = new DesiredSender({
      agentId: 'a',
      sessionNo: 1,
      crdSchemaHash: '',
      peer: { send: (_type: string, payload: object) => Promise.resolve(sent.push(payload)) } as unknown as AgentPeer,
      desired: desired as unknown as DesiredRepository,
      turns: { run: <T>(work: () => Promise<T>) => work() } as unknown as Turns,
      nowMs: () => 0,
      monotonicMs: () => 0,
      onSettled: () => undefined,
      onFailure: (error) => expect(error).toBeUndefined(),
      onFenced: () => undefined,
    });
    return { sender, sent, open: () => (maySendDeletes = true) };
  }

  it.each<[Welcome['mode'], object]>([
    ['DELTA', { revision: 3, upserts: [], tombstones: [] }],
    ['SNAPSHOT', { revision: 3, digest: EMPTY_DIGEST, tombstones: [], held: ['doomed'] }],
  ])('is left out in %s, and follows in the same session once the gate is open', async (mode, leftOut) => {
    vi.useFakeTimers();
    const { sender, sent, open } = beginGated();
    sender.start(mode, 2, beginning);
    await vi.advanceTimersByTimeAsync(0);
    expect(sent.at(-1)).toEqual(leftOut);
    sender.onAcked({ revision: 3, outcomes: [], digest: EMPTY_DIGEST });
    const before = sent.length;
    await vi.advanceTimersByTimeAsync(10_000);
    expect(sent).toHaveLength(before);
    open();
    await vi.advanceTimersByTimeAsync(2_000);
    expect(sent.slice(before)).toMatchObject([
      { revision: 3, tombstones: [{ hubUid: 'doomed', operation: 'DELETE' }] },
    ]);
    sender.onAcked({ revision: 3, outcomes: [], digest: EMPTY_DIGEST });
    await vi.advanceTimersByTimeAsync(10_000);
    expect(sent).toHaveLength(before + 1);
  });

  it('is looked for no longer once the session has ended', async () => {
    vi.useFakeTimers();
    const { sender, sent, open } = beginGated();
    sender.start('DELTA', 2, beginning);
    await vi.advanceTimersByTimeAsync(0);
    sender.stop();
    open();
    await vi.advanceTimersByTimeAsync(10_000);
    expect(sent).toHaveLength(1);
    expect(vi.getTimerCount()).toBe(0);
  });
});
