import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { ApiClient } from '../../../test/api-client.ts';
import { createTestDatabase, startTestHub, type TestHub } from '../../../test/start-test-hub.ts';

let hub: TestHub;
beforeAll(async () => {
  hub = await startTestHub(await createTestDatabase());
});
afterAll(() => hub.close());

describe('metrics', () => {
  it('are on a listener of their own, in plain HTTP, and not on that of the API', async () => {
    const metrics = await fetch(hub.ready.metricsUrl);
    expect([metrics.status, metrics.headers.get('x-content-type-options')]).toEqual([200, 'nosniff']);
    expect(await metrics.text()).toContain('atoll_hub_agent_sessions 0');
    const nobody = new ApiClient(hub, undefined);
    const moved = await nobody.send({ method: 'GET', search: '/../metrics' });
    await nobody.close();
    expect(moved.status).toBe(404);
    expect(JSON.parse(moved.text)).toMatchObject({ code: 'METRICS_MOVED' });
  });
});
