import type { Welcome } from '#protocol';
import { EMPTY_DIGEST } from '#protocol';
import { describe, expect, it, vi } from 'vitest';

import type { AgentPeer } from '../admission/agent-peer.ts';
import { type Beginning, DesiredSender } from './desired-sender.ts';
import type { DesiredRepository } from './desired.repository.ts';
import type { Turns } from './turns.ts';

/** A sender whose agent should hold nothing at all, at revision 3, and the types of what it sent. */
function begin(): { readonly sender: DesiredSender; readonly sent: string[] } {
  const sent: string[] = [];
  const sender = new DesiredSender({
    agentId: 'a',
    crdSchemaHash: '',
    peer: { send: (type: string) => Promise.resolve(sent.push(type)) } as unknown as AgentPeer,
    desired: {
      readAll: () => Promise.resolve({ revision: 3, rows: [] }),
      readChanges: () => Promise.resolve({ revision: 3, rows: [] }),
    } as unknown as DesiredRepository,
    turns: { run: <T>(work: () => Promise<T>) => work() } as unknown as Turns,
    nowMs: () => 0,
    onSettled: () => undefined,
    onFailure: (error) => expect(error).toBeUndefined(),
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
