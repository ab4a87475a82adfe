/** Names come from servers that a tenant's own image may be: every parser keeps them as names, and finds no other. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { INHERITED_NAMES, ownValue } from '#domain';
import { judgeUsers, parseAclList, readBook, readConnections } from './acl-facts.ts';
import { readRedis } from './build-redis-facts.ts';
import { buildSentinelFacts } from './build-sentinel-facts.ts';
import { buildRedisMetrics } from './exporter/build-redis-metrics.ts';
import { buildSentinelMetrics } from './exporter/build-sentinel-metrics.ts';
import { parseInfo } from './parse-info.ts';
import { parsePairs } from './parse-pairs.ts';

const names = fc.constantFrom(...INHERITED_NAMES);
const answers = (name: string): unknown[] => [[name, 'x'], new Map([[name, 'x']]), JSON.parse(`{"${name}":"x"}`)];

describe('a name that every object inherits', () => {
  it('is a field of INFO only where the server sent it', () => {
    fc.assert(
      fc.property(names, (name) => {
        const fields = parseInfo(`# Server\r\n${name}:x\r\nrole:master\r\n`);
        expect(Object.entries(fields).sort()).toEqual(
          [
            [name, 'x'],
            ['role', 'master'],
          ].sort(),
        );
        expect(ownValue(parseInfo('role:master'), name)).toBeUndefined();
        expect(readRedis(`role:master\r\n${name}:x\r\n`, parsePairs([name, 'x'])).facts.role).toBe('master');
      }),
    );
  });

  it('is a name of pairs in every form that a server answers', () => {
    fc.assert(
      fc.property(names, (name) => {
        for (const answer of answers(name)) expect(Object.entries(parsePairs(answer))).toEqual([[name, 'x']]);
      }),
    );
  });

  it('is a user among users', () => {
    fc.assert(
      fc.property(names, (name) => {
        const lines = parseAclList([`user ${name} on #${'a'.repeat(64)} ~* +@all`]);
        const expected = { current: 'a'.repeat(64), rules: '~* +@all' };
        const users = JSON.parse(`{"${name}":${JSON.stringify(expected)}}`) as Record<string, typeof expected>;
        expect(Object.entries(judgeUsers(lines, { users, goners: [] }))).toMatchObject([
          [name, { acceptsCurrent: true }],
        ]);
        expect(Object.keys(judgeUsers(lines, { users: {}, goners: [name] }))).toEqual([name]);
        expect(ownValue(readBook(new Map()), name)).toBeUndefined();
        expect(Object.keys(readConnections(`id=1 addr=10.0.0.1:5 age=3 user=${name} cmd=get`))).toEqual([name]);
      }),
    );
  });

  it('breaks no scrape and no look at a Sentinel', () => {
    fc.assert(
      fc.property(names, (name) => {
        const info = `role:master\r\n${name}:1\r\ndb0:keys=1,${name}=2\r\ncmdstat_${name}:calls=1,${name}=2\r\n`;
        const config = parsePairs([name, '1']);
        expect(() => buildRedisMetrics({ info, latency: [[name, 1, 2]], slowlogLength: 0, config }, 1)).not.toThrow();
        const [master] = answers(name);
        const said = { master, replicas: [master], checkQuorum: 'OK' };
        expect(buildSentinelFacts({ myId: 'a', ...said })).toMatchObject({ reachable: true });
        const sentinel = { masterName: name, info, sentinels: [master], ...said };
        expect(() => buildSentinelMetrics(sentinel, 1)).not.toThrow();
      }),
    );
  });
});
