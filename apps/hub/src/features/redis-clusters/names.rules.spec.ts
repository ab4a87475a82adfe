import { describe, expect, it } from 'vitest';
import { checkNames } from './names.rules.ts';

const fields = (name: string, namespace = 'shop') =>
  checkNames({ name, namespace }).map((error) => error.field?.at(-1));

describe('names', () => {
  it.each(['cache', 'a', 'orders-cache-2', 'x'.repeat(40)])('takes %s', (name) => {
    expect(fields(name)).toEqual([]);
  });
  it.each(['', 'Cache', '2cache', '-a', 'a-', 'a.b', 'a_b', 'x'.repeat(41), 'a\n', 'cache-replicas', 'cache-sentinel'])(
    'refuses %j',
    (name) => {
      expect(fields(name)).toEqual(['name']);
    },
  );
  it('refuses a namespace that Kubernetes would refuse', () => {
    expect(fields('cache', 'Shop')).toEqual(['namespace']);
    expect(fields('cache', '1shop')).toEqual([]);
  });
});
