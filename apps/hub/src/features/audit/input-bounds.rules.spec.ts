import { describe, expect, it } from 'vitest';
import { describeTarget, findOutOfBounds } from './input-bounds.rules.ts';

const nested = (levels: number): unknown => JSON.parse('{"a":'.repeat(levels) + '1' + '}'.repeat(levels)) as unknown;
const four = (bytes: number): string => '🦄'.repeat(bytes / 4);

describe('the input of a mutation', () => {
  it.each([
    ['an id of 128 bytes', { id: 'x'.repeat(128), redisClusterIds: ['x'.repeat(128)] }],
    ['a name and a key as long as they may be', { name: four(252), idempotencyKey: 'x'.repeat(255) }],
    ['a path of a drifted field of 4,096 bytes', { paths: [`spec.config.${'x'.repeat(4_084)}`] }],
    ['a directive of 4,096 characters of any script', { spec: { config: { save: 'ä'.repeat(4_096) } } }],
    ['1,000 directives', { spec: { config: Object.fromEntries(Array.from({ length: 1_000 }, (_, i) => [i, 1])) } }],
    ['numbers, flags, nulls and what is left out', { a: 1, b: true, c: null, d: undefined }],
    ['nine levels of JSON', { labels: nested(9) }],
  ])('passes with %s', (_what, input) => {
    expect(findOutOfBounds(input)).toBeUndefined();
  });

  it.each([
    ['an id', { id: 'x'.repeat(129) }, ['input', 'id']],
    ['one id of several', { redisClusterIds: ['x', 'x'.repeat(129)] }, ['input', 'redisClusterIds', '1']],
    ['an idempotency key of four-byte characters', { idempotencyKey: four(256) }, ['input', 'idempotencyKey']],
    ['a name', { name: 'x'.repeat(254) }, ['input', 'name']],
    ['a text deep in a spec', { spec: { auth: { users: [{ rules: 'x'.repeat(8_193) }] } } }, ['rules']],
    ['a value of a JSON input', { labels: { tier: 'x'.repeat(8_193) } }, ['input', 'labels', 'tier']],
    ['a key of a JSON input', { labels: { ['k'.repeat(513)]: '' } }, ['input', 'labels']],
    ['nesting of 100,000 levels', { labels: nested(100_000) }, ['input', 'labels']],
    ['a list of 1,001', { paths: Array.from({ length: 1_001 }, () => 'x') }, ['input', 'paths']],
    ['1,001 keys', { labels: Object.fromEntries(Array.from({ length: 1_001 }, (_, i) => [i, ''])) }, ['labels']],
  ])('is refused for %s, with its field and a message of a few words', (_what, input, field) => {
    const found = findOutOfBounds(input);
    expect(found).toMatchObject({ code: 'INVALID_INPUT', retryable: false });
    expect(found?.field).toEqual(expect.arrayContaining(field));
    expect(found?.message.length).toBeLessThan(2_000);
  });
});

describe('what the audit says a refused mutation was about', () => {
  it.each([
    [{ id: 'R1' }, 'R1'],
    [{ name: 'cart', namespace: 'shop', memberClusterId: 'M1' }, 'shop/cart'],
    [{ name: 'site-1' }, 'site-1'],
    [{ agentId: 'A1', memberClusterId: 'M1' }, 'A1'],
    [{ memberClusterId: 'M1' }, 'M1'],
    [{ redisClusterIds: [] }, undefined],
  ])('%j is %s', (input, target) => {
    expect(describeTarget(input)).toBe(target);
  });

  it('is never longer than some hundred bytes, nor half a character', () => {
    const target = describeTarget({ name: `x${four(100_000)}`, namespace: four(100_000) }) ?? '';
    expect(Buffer.byteLength(target)).toBeLessThan(600);
    expect(target.isWellFormed()).toBe(true);
  });
});
