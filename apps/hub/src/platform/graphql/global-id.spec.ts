import { describe, expect, it } from 'vitest';
import { decodeGlobalId, encodeGlobalId, readGlobalId } from './global-id.ts';

const uuid = '01939c7a-0000-7000-8000-0123456789ab';

describe('global ids', () => {
  it('gives back what was encoded', () => {
    expect(decodeGlobalId('RedisCluster', encodeGlobalId('RedisCluster', uuid))).toBe(uuid);
  });
  it('does not take the id of another type', () => {
    expect(decodeGlobalId('MemberCluster', encodeGlobalId('RedisCluster', uuid))).toBeUndefined();
  });
  it.each(['', 'x', '%%%', Buffer.from("RedisCluster:' OR 1=1").toString('base64url')])('refuses %j', (id) => {
    expect(decodeGlobalId('RedisCluster', id)).toBeUndefined();
  });
  it('names the type for node(id)', () => {
    expect(readGlobalId(encodeGlobalId('Agent', uuid))).toEqual({ type: 'Agent', key: uuid });
  });
});
