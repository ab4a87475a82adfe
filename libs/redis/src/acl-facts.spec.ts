import { describe, expect, it } from 'vitest';
import { readConnections } from './acl-facts.ts';

const line = (user: string, addr: string, age: number): string =>
  `id=7 addr=${addr} laddr=10.0.0.1:6379 fd=9 name= age=${age} idle=0 flags=N db=0 cmd=ping user=${user} resp=2`;

describe('connections of each user', () => {
  it('are counted, and the oldest five told by address without the port', () => {
    const ages = [5, 900, 40, 7, 6, 30, 20];
    const reply = [...ages.map((age) => line('app', `10.9.0.${age % 250}:4${age}`, age)), line('atoll', '[::1]:77', 3)];
    const { app, atoll } = readConnections(reply.join('\n'));
    expect(app).toMatchObject({ connections: 7, oldestConnectionSeconds: 900 });
    expect(app?.oldest.map(({ ageSeconds }) => ageSeconds)).toEqual([900, 40, 30, 20, 7]);
    expect(app?.oldest[0]).toEqual({ address: '10.9.0.150', ageSeconds: 900 });
    expect(atoll?.oldest).toEqual([{ address: '[::1]', ageSeconds: 3 }]);
  });

  it('are nobody where the server tells nothing', () => {
    expect(readConnections(undefined)).toEqual({});
    expect(readConnections('')).toEqual({});
  });
});
