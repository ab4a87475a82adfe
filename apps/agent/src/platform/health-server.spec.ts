import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type HealthServer, startHealthServer } from './health-server.ts';
import { createLog } from './logger.ts';

describe('the health server', () => {
  let server: HealthServer;
  beforeEach(async () => {
    server = await startHealthServer({ port: 0, renderMetrics: () => 'metric 1\n' });
  });
  afterEach(() => server.close());

  const probe = async (path: string, method = 'GET') => {
    const response = await fetch(`http://127.0.0.1:${server.port}${path}`, { method });
    return { code: response.status, text: await response.text() };
  };

  it('is live whatever is ready, and ready when every check says so', async () => {
    let reason: string | undefined = 'nobody holds it';
    server.addReadinessCheck({ name: 'lease', whyNot: () => reason });
    server.addReadinessCheck({ name: 'operator', whyNot: () => undefined });
    expect(await probe('/readyz')).toEqual({
      code: 503,
      text: '[-] lease: nobody holds it\n[+] operator\nnot ready\n',
    });
    expect(await probe('/livez')).toEqual({ code: 200, text: 'ok\n' });
    reason = undefined;
    expect(await probe('/readyz')).toEqual({ code: 200, text: '[+] lease\n[+] operator\nready\n' });
  });

  it('serves metrics, and nothing but reads', async () => {
    expect(await probe('/metrics?x=1')).toEqual({ code: 200, text: 'metric 1\n' });
    expect((await probe('/')).code).toBe(404);
    expect((await probe('/livez', 'POST')).code).toBe(405);
    expect(await probe('/livez', 'HEAD')).toEqual({ code: 200, text: '' });
  });

  it('says at start that its port is taken', async () => {
    const second = startHealthServer({ port: server.port, renderMetrics: () => '' });
    await expect(second).rejects.toThrow('EADDRINUSE');
  });
});

describe('the log', () => {
  it('is JSON lines with words for levels, RFC 3339 times, and errors with their cause', () => {
    const lines: string[] = [];
    const log = createLog('info', { pod: 'p' }, { write: (line) => void lines.push(line) });
    log('debug', 'unseen');
    log('warn', 'seen', { error: new Error('outer', { cause: new Error('inner') }), count: 2 });
    expect(lines).toHaveLength(1);
    const { time, ...rest } = JSON.parse(lines[0] ?? '') as Record<string, unknown>;
    expect(rest).toEqual({ level: 'warn', pod: 'p', msg: 'seen', error: 'outer (inner)', count: 2 });
    expect(new Date(String(time)).toISOString()).toBe(time);
  });
});
