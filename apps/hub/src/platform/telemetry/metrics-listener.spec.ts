import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

import { listenForMetrics, type MetricsListener } from './metrics-listener.ts';
import { Metrics } from './metrics.ts';

const metrics = new Metrics();
let listener: MetricsListener;
const read = async (path = '/metrics', init: RequestInit = {}): Promise<Response> =>
  fetch(`http://127.0.0.1:${listener.port}${path}`, init);

beforeEach(async () => {
  vi.useFakeTimers({ toFake: ['setTimeout'] });
  listener = await listenForMetrics(metrics, 0, '127.0.0.1');
});
afterEach(async () => {
  vi.useRealTimers();
  vi.restoreAllMocks();
  await listener.close();
});

describe('the listener of metrics', () => {
  it('renders once for all who ask within half a second', async () => {
    const render = vi.spyOn(metrics.registry, 'metrics');
    for (let count = 0; count < 5; count += 1) expect(await (await read()).text()).toContain('atoll_hub');
    expect(render).toHaveBeenCalledTimes(1);
    vi.advanceTimersByTime(500);
    await (await read()).text();
    expect(render).toHaveBeenCalledTimes(2);
  });

  it('says that it failed, and not why', async () => {
    vi.spyOn(metrics.registry, 'metrics').mockRejectedValue(new Error('secret'));
    const answer = await read();
    expect([answer.status, await answer.text()]).toEqual([500, '']);
  });

  it.each([
    ['/', {}],
    ['/graphql', {}],
    ['/livez', {}],
    ['/metrics', { method: 'POST', body: 'x' }],
  ])('has nothing else: %s %j', async (path, init) => {
    expect((await read(path, init)).status).toBe(404);
  });
});
