/** What the specs of the entrypoint lay on a disk, and let Sentinels answer. */
import type { RedisClusterSpec } from '#domain';
import { GUARD } from './start-guard.ts';

const { names, podIp } = GUARD;

const EMPTY_RDB = Buffer.concat([
  Buffer.from('REDIS0010'),
  Buffer.from([0xfa, 0x09]),
  Buffer.from('redis-ver'),
  Buffer.from([0x06]),
  Buffer.from('7.0.15'),
  Buffer.from([0xff, 1, 2, 3, 4, 5, 6, 7, 8]),
]);
const RDB_WITH_KEY = Buffer.concat([
  Buffer.from('REDIS0010'),
  Buffer.from([0xfe, 0x00, 0xfb, 0x01, 0x00, 0x00, 0x01]),
  Buffer.from('a'),
  Buffer.from([0x01]),
  Buffer.from('1'),
  Buffer.from([0xff, 1, 2, 3, 4, 5, 6, 7, 8]),
]);

const AOF = 'appendonlydir/appendonly.aof';
const aofFiles = (base: Buffer, increment: string): Record<string, string | Buffer> => ({
  [`${AOF}.manifest`]: 'file appendonly.aof.1.base.rdb seq 1 type b\nfile appendonly.aof.1.incr.aof seq 1 type i\n',
  [`${AOF}.1.base.rdb`]: base,
  [`${AOF}.1.incr.aof`]: increment,
});
const WITH_DATA = aofFiles(EMPTY_RDB, '*3\r\n$3\r\nSET\r\n');
const UNTOUCHED = aofFiles(EMPTY_RDB, '');

const sentinelSays = (ip: string, flags = 'master'): string =>
  ['OK', 'name', names.masterName, 'ip', ip, 'port', '6379', 'runid', 'x', 'flags', flags, ''].join('\n');

const sentinel = (ordinal: number): string => `${names.sentinel}-${ordinal}.${names.podsService}`;
const allSentinels = (answer: string): Record<string, string> => ({
  [sentinel(0)]: answer,
  [sentinel(1)]: answer,
  [sentinel(2)]: answer,
});

const spec = (mode: RedisClusterSpec['mode'], enabled = true): RedisClusterSpec => ({
  engine: { type: 'Redis', version: '8.0' },
  mode,
  persistence: { enabled },
  ...(mode === 'Sentinel' ? { sentinel: { downAfter: '1s' } } : {}),
});

export const GUARD_SCENE = {
  AOF,
  EMPTY_RDB,
  RDB_WITH_KEY,
  WITH_DATA,
  UNTOUCHED,
  /** What a Sentinel says that names this pod, and one that names another. */
  HERE: [sentinelSays(podIp), sentinelSays('10.0.0.7')] as const,
  aofFiles,
  sentinelSays,
  sentinel,
  allSentinels,
  spec,
};
