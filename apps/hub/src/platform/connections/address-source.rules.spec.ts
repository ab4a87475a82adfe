import { describe, expect, it } from 'vitest';

import { sourceOf } from './address-source.rules.ts';

describe('the source of a connection', () => {
  it.each([
    ['10.0.0.7', '10.0.0.7'],
    ['::ffff:10.0.0.7', '10.0.0.7'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
    ['2001:0DB8:1:2:ffff::1', '2001:db8:1:2::/64'],
    ['2001:db8::1', '2001:db8:0:0::/64'],
    ['::1', '0:0:0:0::/64'],
    ['::', '0:0:0:0::/64'],
    ['fe80::1%eth0', 'fe80:0:0:0::/64'],
    ['64:ff9b::10.0.0.7', '64:ff9b:0:0::/64'],
    ['1:2:3::', '1:2:3:0::/64'],
  ])('%s is of %s', (address, source) => {
    expect(sourceOf(address)).toBe(source);
  });

  it('is one for all who have gone before they were looked at', () => {
    expect(sourceOf(undefined)).toBe(sourceOf(''));
  });
});
