import { describe, expect, it } from 'vitest';

import { createApiServer } from './api-server.ts';

describe('the listener of the API', () => {
  it('waits for nobody without an end: not for a head, a request, or one who does not read', () => {
    const server = createApiServer({ cert: '', key: '' }, () => undefined);
    expect(server).toMatchObject({ headersTimeout: 10_000, requestTimeout: 30_000, timeout: 120_000 });
  });
});
