import { describe, expect, it } from 'vitest';
import { exporterRoutes } from './exporter-routes.ts';
import { BusyError, type ScrapeTarget } from './redis-exporter.ts';

const TARGET: ScrapeTarget = {
  namespace: 'shop',
  pod: 'cart-abc-0',
  redisCluster: 'cart',
  component: 'redis',
  ip: '10.0.0.7',
};

const routesWith = (read: () => Promise<never[]>) =>
  exporterRoutes(() => ({
    targets: () => [TARGET],
    find: (text: string) => (text === 'shop/cart-abc-0' ? TARGET : undefined),
    read,
  }));

const ask = (routes: ReturnType<typeof exporterRoutes>, path: string, query = '') => {
  const route = routes[path];
  if (route === undefined) throw new Error(`no route ${path}`);
  return route({ query: new URLSearchParams(query), localAddress: '10.0.0.1:8080' });
};

describe('the exporter', () => {
  it('tells Prometheus what to scrape, at the address of this very process', async () => {
    const { code, body } = await ask(
      routesWith(() => Promise.resolve([])),
      '/sd',
    );
    expect(code).toBe(200);
    expect(JSON.parse(body)).toEqual([
      {
        targets: ['10.0.0.1:8080'],
        labels: {
          __metrics_path__: '/scrape',
          __param_target: 'shop/cart-abc-0',
          instance: 'shop/cart-abc-0',
          namespace: 'shop',
          rediscluster: 'cart',
          pod: 'cart-abc-0',
          component: 'redis',
        },
      },
    ]);
  });

  it('answers for one target', async () => {
    const { code, body } = await ask(
      routesWith(() => Promise.resolve([])),
      '/scrape',
      'target=shop/cart-abc-0',
    );
    expect(code).toBe(200);
    expect(body).toContain('redis_up 1\n');
    expect(body).toContain('redis_exporter_last_scrape_error{err=""} 0\n');
  });

  it('tells a Redis that does not answer as down, with the reason', async () => {
    const routes = routesWith(() => Promise.reject(new Error('No answer in time.')));
    const { code, body } = await ask(routes, '/scrape', 'target=shop/cart-abc-0');
    expect(code).toBe(200);
    expect(body).toContain('redis_up 0\n');
    expect(body).toContain('redis_exporter_last_scrape_error{err="No answer in time."} 1\n');
  });

  it('asks no address that is not one of its pods', async () => {
    for (const target of ['redis://169.254.169.254:80', 'shop/other', '']) {
      expect(
        (
          await ask(
            routesWith(() => Promise.resolve([])),
            '/scrape',
            `target=${target}`,
          )
        ).code,
      ).toBe(404);
    }
  });

  it('is no source of truth in a standby, nor when it is asked too much', async () => {
    const standby = exporterRoutes(() => undefined);
    expect((await ask(standby, '/sd')).code).toBe(503);
    expect((await ask(standby, '/scrape', 'target=shop/cart-abc-0')).code).toBe(503);
    const busy = routesWith(() => Promise.reject(new BusyError('too many scrapes at once')));
    expect((await ask(busy, '/scrape', 'target=shop/cart-abc-0')).code).toBe(503);
  });
});
