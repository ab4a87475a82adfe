/** What a Sentinel must do for SentinelLink to be right, as named cases for the scripted one and for the real one. */
import assert from 'node:assert/strict';
import type { SentinelFacts } from '#domain';
import type { SentinelLink } from '#redis';

export interface SentinelContractCase {
  readonly name: string;
  /** `link` speaks to a fresh Sentinel that monitors nothing; two addresses where a Redis might be. */
  readonly run: (link: SentinelLink, hosts: readonly [string, string]) => Promise<void>;
}

const NAME = 'contract-1';
const SETTINGS = { quorum: '1', 'down-after-milliseconds': '5000', 'failover-timeout': '60000', 'parallel-syncs': '1' };

const factsOf = async (link: SentinelLink): Promise<Extract<SentinelFacts, { reachable: true }>> => {
  const facts = await link.probe(NAME);
  assert.ok(facts.reachable, 'the Sentinel answers');
  return facts;
};

const request = (primaryHost: string): Parameters<SentinelLink['monitor']>[0] => ({
  masterName: NAME,
  primaryHost,
  primaryPort: 6379,
  quorum: 1,
  settings: SETTINGS,
});

export const SENTINEL_CONTRACT: readonly SentinelContractCase[] = [
  {
    name: 'a fresh Sentinel says that it monitors nothing, and who it is',
    run: async (link: SentinelLink): Promise<void> => {
      const facts = await factsOf(link);
      assert.equal(facts.monitors, false);
      assert.match(facts.myId, /^[0-9a-f]{40}$/);
    },
  },
  {
    name: 'what it is told to monitor comes back with every setting',
    run: async (link: SentinelLink, [host]: readonly [string, string]): Promise<void> => {
      assert.equal((await link.monitor(request(host))).outcome, 'DONE');
      const facts = await factsOf(link);
      assert.equal(facts.monitors, true);
      assert.equal(facts.primaryHost, host);
      assert.equal(facts.failoverInProgress, false);
      assert.deepEqual({ ...facts.settings }, SETTINGS);
    },
  },
  {
    name: 'one setting is changed alone',
    run: async (link: SentinelLink): Promise<void> => {
      assert.equal((await link.set(NAME, { 'down-after-milliseconds': '7000' })).outcome, 'DONE');
      assert.deepEqual({ ...(await factsOf(link)).settings }, { ...SETTINGS, 'down-after-milliseconds': '7000' });
    },
  },
  {
    name: 'told another address it moves there, with every setting',
    run: async (link: SentinelLink, [, other]: readonly [string, string]): Promise<void> => {
      assert.equal((await link.monitor(request(other))).outcome, 'DONE');
      const facts = await factsOf(link);
      assert.equal(facts.primaryHost, other);
      assert.deepEqual({ ...facts.settings }, SETTINGS);
    },
  },
  {
    name: 'a bad setting is refused, and the answer does not repeat it',
    run: async (link: SentinelLink): Promise<void> => {
      const outcome = await link.set(NAME, { 'parallel-syncs': 'canary-value' });
      assert.equal(outcome.outcome, 'REFUSED');
      assert.ok(!JSON.stringify(outcome).includes('canary-value'));
    },
  },
  {
    name: 'removed it monitors nothing, and once more changes nothing',
    run: async (link: SentinelLink): Promise<void> => {
      assert.equal((await link.remove(NAME)).outcome, 'DONE');
      assert.equal((await factsOf(link)).monitors, false);
      assert.equal((await link.remove(NAME)).outcome, 'UNCHANGED');
    },
  },
];
