import { expect, it } from 'vitest';
import { parseFleetOptions } from './fleet-options.ts';

it('takes sizes in any order, and one form of TLS or both', () => {
  expect(parseFleetOptions([])).toEqual({ sizes: [1_000], forms: ['hub', 'haproxy'] });
  expect(parseFleetOptions(['--clusters', '1000,100', '--tls', 'haproxy'])).toEqual({
    sizes: [100, 1_000],
    forms: ['haproxy'],
  });
  for (const wrong of [['--clusters'], ['--clusters', '0'], ['--clusters', '1e9'], ['--tls', 'none']]) {
    expect(() => parseFleetOptions(wrong)).toThrow('npm run bench -- fleet');
  }
});
