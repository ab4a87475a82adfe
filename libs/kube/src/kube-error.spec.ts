import { describe, expect, it } from 'vitest';
import { KubeError } from './kube-error.ts';
import { parseKubeAnswer } from './parse-kube-answer.ts';

const answer = (status: number, body: unknown, headers = {}) => ({
  status,
  headers,
  text: typeof body === 'string' ? body : JSON.stringify(body),
});
const errorOf = (run: () => unknown): KubeError => {
  try {
    run();
  } catch (error) {
    if (error instanceof KubeError) return error;
  }
  throw new Error('no KubeError');
};
const statusOf = (code: number, reason: string, more: object = {}) =>
  errorOf(() => parseKubeAnswer('GET /x', answer(code, { kind: 'Status', code, reason, message: 'm', ...more })));

describe('the answer of an API server', () => {
  it('is the parsed object when it is good, and the text when it is no JSON', () => {
    expect(parseKubeAnswer('GET /x', answer(200, { a: 1 }))).toEqual({ a: 1 });
    expect(parseKubeAnswer('GET /livez', answer(200, 'ok'))).toBe('ok');
  });

  it.each([
    [404, 'NotFound', 'isNotFound'],
    [409, 'Conflict', 'isConflict'],
    [409, 'AlreadyExists', 'isAlreadyExists'],
    [410, 'Expired', 'isGone'],
    [403, 'Forbidden', 'isForbidden'],
    [422, 'Invalid', 'isInvalid'],
    [429, 'TooManyRequests', 'isTooManyRequests'],
  ] as const)('%i %s answers to %s and to no other question', (code, reason, question) => {
    const error = statusOf(code, reason);
    const questions = ['isNotFound', 'isConflict', 'isAlreadyExists', 'isGone', 'isForbidden', 'isInvalid'] as const;
    const yes = [...questions, 'isTooManyRequests' as const].filter((name) => error[name]());
    expect(yes).toEqual([question]);
    expect(error.isUnreachable).toBe(false);
  });

  it('of a gateway or a starting server counts as unreachable, with an excerpt of its page', () => {
    const error = errorOf(() => parseKubeAnswer('GET /x', answer(502, '<html>Bad Gateway</html>')));
    expect(error.isUnreachable).toBe(true);
    expect(error.message).toContain('Bad Gateway');
  });

  it('says when to come back', () => {
    expect(statusOf(429, 'TooManyRequests', { details: { retryAfterSeconds: 3 } }).retryAfterMs).toBe(3000);
    const throttled = errorOf(() => parseKubeAnswer('GET /x', answer(429, 'slow', { 'retry-after': '2' })));
    expect(throttled.retryAfterMs).toBe(2000);
  });

  it('names contested fields and their managers, quotes in a name included', () => {
    const causes = [
      { reason: 'FieldManagerConflict', message: 'conflict with "kubectl-edit" using v1 at 2026', field: '.spec.size' },
      {
        reason: 'FieldManagerConflict',
        message: 'conflict with "a \\"b\\"" with subresource "x"',
        field: '.spec.mode',
      },
      { reason: 'Other', message: 'x', field: '.y' },
    ];
    expect(statusOf(409, 'Conflict', { details: { causes } }).fieldConflicts).toEqual([
      { path: 'spec.size', manager: 'kubectl-edit' },
      { path: 'spec.mode', manager: 'a "b"' },
    ]);
  });

  it('about a field that the definition lacks names it, of several the first', () => {
    const refused = (message: string) => statusOf(500, '', { message }).undeclaredField;
    const text = 'failed to create typed patch object (shop/a; redis.atoll.dev/v1alpha1, Kind=RedisCluster):';
    expect(refused(`${text} .status.rollout: field not declared in schema`)).toBe('status.rollout');
    const several = `${text} errors:\n  .status.a[x="b c"].d: field not declared in schema\n  .e: field not declared in schema`;
    expect(refused(several)).toBe('status.a[x="b c"].d');
    expect(refused('etcd is away')).toBeUndefined();
  });

  it('that never came is unreachable, unless we gave it up ourselves', () => {
    expect(new KubeError({ reason: 'TIMEOUT', message: 'm' }).isUnreachable).toBe(true);
    expect(new KubeError({ reason: 'ABORTED', message: 'm' })).toMatchObject({ isUnreachable: false, isAborted: true });
  });
});
