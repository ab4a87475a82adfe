import type { StatusItem } from '#protocol';
import { describe, expect, it } from 'vitest';

import {
  findLocallyDeleted,
  findReturned,
  isCountedElsewhere,
  type KnownResource,
  namedHubUids,
  sortStatus,
} from './status.rules.ts';

const UID_A = '01900000-0000-7000-8000-00000000000a';
const UID_B = '01900000-0000-7000-8000-00000000000b';
const item = (hubUid: string | undefined, rest: Partial<StatusItem> = {}): StatusItem => ({
  ...(hubUid === undefined ? {} : { hubUid }),
  namespace: 'default',
  name: 'x',
  uid: 'k',
  kind: 'RedisCluster',
  conditions: [],
  pods: [],
  foreignFields: [],
  ...rest,
});
const known = (hubUid: string, rest: Partial<KnownResource> = {}): [string, KnownResource] => [
  hubUid,
  {
    hubUid,
    agentId: 'agent',
    projectId: 'p',
    namespace: 'default',
    name: 'x',
    deletion: null,
    deliveryState: 'APPLIED',
    statusHash: null,
    mode: null,
    version: null,
    phase: null,
    ...rest,
  },
];
const entry = (items: StatusItem[], counter = 0, inventory: 'SYNCED' | 'UNKNOWN' = 'SYNCED') => ({
  session: { agentId: 'agent', sessionNo: 1 },
  batch: { counter, items, inventory },
});

describe('what agents report', () => {
  it('is sorted, and the last word about an object wins', () => {
    const entries = [
      entry([item(UID_B), item(UID_A, { phase: 'Creating' })]),
      entry([item(UID_A, { phase: 'Ready' })], 1),
    ];
    const { managed } = sortStatus(entries, new Map([known(UID_A), known(UID_B)]));
    expect(managed.map((one) => [one.known.hubUid, one.item.phase, one.counter])).toEqual([
      [UID_A, 'Ready', 1],
      [UID_B, undefined, 0],
    ]);
  });

  it('about an object of another agent is local', () => {
    const { managed, local } = sortStatus([entry([item(UID_A)])], new Map([known(UID_A, { agentId: 'other' })]));
    expect([managed.length, local.length]).toEqual([0, 1]);
  });

  it('about a copy under another name is local, whatever hubUid it carries', () => {
    const { managed, local } = sortStatus(
      [entry([item(UID_A, { phase: 'Ready' }), item(UID_A, { name: 'copy', phase: 'Creating' })])],
      new Map([known(UID_A)]),
    );
    expect(managed.map((one) => one.item.phase)).toEqual(['Ready']);
    expect(local.map((one) => one.item.name)).toEqual(['copy']);
  });

  it('of an older batch gives way to a newer one in the same commit', () => {
    const entries = [entry([item(UID_A, { phase: 'Ready' })], 5), entry([item(UID_A, { phase: 'Creating' })], 4)];
    expect(sortStatus(entries, new Map([known(UID_A)])).managed[0]?.item.phase).toBe('Ready');
  });

  it('has changed when the hash that the agent told differs', () => {
    const hashOf = (one: StatusItem) => sortStatus([entry([one])], new Map([known(UID_A)])).managed[0]?.hash;
    expect(hashOf(item(UID_A, { hash: 'a'.repeat(32) }))).toBe('a'.repeat(32));
    expect(hashOf(item(UID_A))).toMatch(/^[0-9a-f]{64}$/);
  });

  it('is counted anew only under another key', () => {
    const told = item(UID_A, { phase: 'Ready', mode: 'Sentinel', engineVersion: '8.0' });
    const countedAs = (key: Partial<KnownResource>) =>
      sortStatus([entry([told])], new Map([known(UID_A, key)])).managed.filter(isCountedElsewhere).length;
    expect(countedAs({ mode: 'Sentinel', version: '8.0', phase: 'Ready' })).toBe(0);
    expect(countedAs({ mode: 'Sentinel', version: '8.0', phase: 'Creating' })).toBe(1);
    expect(countedAs({})).toBe(1);
  });

  it('as gone counts only when the API server can be heard', () => {
    const gone = item(UID_A, { gone: true });
    const table = new Map([known(UID_A)]);
    expect(findLocallyDeleted(sortStatus([entry([gone], 0, 'UNKNOWN')], table).managed)).toEqual([]);
    expect(findLocallyDeleted(sortStatus([entry([gone])], table).managed)).toHaveLength(1);
  });

  it('as gone is expected of an object that is being deleted', () => {
    const table = new Map([known(UID_A, { deletion: 'DELETE' })]);
    expect(findLocallyDeleted(sortStatus([entry([item(UID_A, { gone: true })])], table).managed)).toEqual([]);
  });

  it('as present again is noticed', () => {
    const table = new Map([known(UID_A, { deliveryState: 'DELETED_LOCALLY' })]);
    expect(findReturned(sortStatus([entry([item(UID_A)])], table).managed)).toHaveLength(1);
    expect(findReturned(sortStatus([entry([item(UID_A, { terminating: true })])], table).managed)).toEqual([]);
  });

  it('is looked up by ids that Postgres can read', () => {
    expect(namedHubUids([entry([item(UID_A), item('no uuid'), item(undefined), item(UID_A)])])).toEqual([UID_A]);
  });
});
