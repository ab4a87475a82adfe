/**
 * What a Redis must do for RedisLink to be right, as named cases that run on the scripted Redis in unit tests and on
 * the real one in e2e. If the real one and the scripted one disagree, one of these fails.
 */
import assert from 'node:assert/strict';
import { WAITING_PRIMARY_HOST, WAITING_PRIMARY_PORT } from '#domain';
import type { RedisLink } from '#redis';

export interface RedisContractCase {
  readonly name: string;
  /** `link` speaks to a fresh, empty, writable primary without replicas; `configName` is settable there. */
  readonly run: (link: RedisLink) => Promise<void>;
}

const factsOf = async (link: RedisLink, names: readonly string[] = []) => {
  const facts = await link.probe(names);
  assert.ok(facts.reachable, 'the server answers');
  return facts;
};

export const REDIS_CONTRACT: readonly RedisContractCase[] = [
  {
    name: 'a fresh primary says that it is one, that it is empty, and which process it is',
    run: async (link: RedisLink): Promise<void> => {
      const facts = await factsOf(link);
      assert.equal(facts.role, 'master');
      assert.equal(facts.keys, 0);
      assert.equal(facts.loading, false);
      assert.match(facts.runId, /^[0-9a-f]{40}$/);
      assert.match(facts.replicationId, /^[0-9a-f]{40}$/);
      assert.match(facts.version, /^\d+\.\d+\.\d+/);
    },
  },
  {
    name: 'the wanted directives come with the facts, an unknown one is absent',
    run: async (link: RedisLink): Promise<void> => {
      const facts = await factsOf(link, ['maxmemory', 'no-such-directive']);
      assert.deepEqual(Object.keys(facts.config), ['maxmemory']);
    },
  },
  {
    name: 'a replica of the waiting address reports it, with its link down',
    run: async (link: RedisLink): Promise<void> => {
      const { runId } = await factsOf(link);
      const target = { expectRunId: runId, primaryHost: WAITING_PRIMARY_HOST, primaryPort: WAITING_PRIMARY_PORT };
      assert.equal((await link.replicaOf(target)).outcome, 'DONE');
      const facts = await factsOf(link);
      assert.equal(facts.role, 'slave');
      assert.equal(facts.masterHost, WAITING_PRIMARY_HOST);
      assert.equal(facts.linkUp, false);
      assert.equal((await link.replicaOf(target)).outcome, 'UNCHANGED');
    },
  },
  {
    name: 'a promotion planned for another process is refused and changes nothing',
    run: async (link: RedisLink): Promise<void> => {
      const wanted = { expectRunId: 'f'.repeat(40), onlyIfEmpty: false, onlyIfWaiting: false };
      const outcome = await link.promote(wanted);
      assert.equal(outcome.outcome, 'REFUSED');
      assert.equal((await factsOf(link)).role, 'slave');
    },
  },
  {
    name: 'a waiting, empty node is promoted once, and a second time changes nothing',
    run: async (link: RedisLink): Promise<void> => {
      const { runId } = await factsOf(link);
      const wanted = { expectRunId: runId, onlyIfEmpty: true, onlyIfWaiting: true };
      assert.equal((await link.promote(wanted)).outcome, 'DONE');
      assert.equal((await factsOf(link)).role, 'master');
      assert.equal((await link.promote(wanted)).outcome, 'UNCHANGED');
    },
  },
  {
    name: 'several directives are set together or not at all',
    run: async (link: RedisLink): Promise<void> => {
      const before = (await factsOf(link, ['maxmemory'])).config['maxmemory'];
      const outcome = await link.configSet({ maxmemory: '104857600', 'maxmemory-policy': 'bogus' });
      assert.equal(outcome.outcome, 'REFUSED');
      assert.equal((await factsOf(link, ['maxmemory'])).config['maxmemory'], before);
      assert.equal((await link.configSet({ maxmemory: '104857600' })).outcome, 'DONE');
      assert.equal((await factsOf(link, ['maxmemory'])).config['maxmemory'], '104857600');
    },
  },
  {
    name: 'writes can be paused and resumed',
    run: async (link: RedisLink): Promise<void> => {
      assert.equal((await link.pauseWrites(1_000)).outcome, 'DONE');
      assert.equal((await link.resumeWrites()).outcome, 'DONE');
    },
  },
];
