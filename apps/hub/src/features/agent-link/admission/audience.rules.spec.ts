import { describe, expect, it } from 'vitest';

import { chooseAudience } from './audience.rules.ts';

const addresses = ['10.0.0.1:8444', 'hub.example:443'];

describe('the audience of a connection', () => {
  it.each([
    ['10.0.0.1:8444', '10.0.0.1:8444'],
    ['hub.example', 'hub.example:443'],
    ['HUB.example:443', 'hub.example:443'],
    ['elsewhere:8444', '10.0.0.1:8444'],
    [undefined, '10.0.0.1:8444'],
  ])('that was made to %s is %s', (host, audience) => {
    expect(chooseAudience(addresses, host)).toBe(audience);
  });
});
