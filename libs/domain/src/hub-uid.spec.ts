import { describe, expect, it } from 'vitest';
import { dataSetIdOf } from './data-set-id.ts';
import { hubUidOf, originalOf } from './hub-uid.ts';
import { ANNOTATION } from './names.ts';

const meta = (annotations: Readonly<Record<string, string>>, name = 'cart', namespace = 'shop') => ({
  name,
  namespace,
  uid: 'k1',
  annotations,
});
const pushed = { [ANNOTATION.hubUid]: 'u1', [ANNOTATION.hubName]: 'shop/cart' };

describe('the object of the hub', () => {
  it('is the one of the name that the hub gave', () => {
    expect([hubUidOf(meta(pushed)), originalOf(meta(pushed))]).toEqual(['u1', undefined]);
  });

  it.each([
    ['another name', meta(pushed, 'copy')],
    ['another namespace', meta(pushed, 'cart', 'test')],
  ])('is not its copy of %s, which is a data set of its own', (_, metadata) => {
    expect([hubUidOf(metadata), originalOf(metadata)]).toEqual([undefined, 'shop/cart']);
    const spec = { engine: { type: 'Redis', version: '8.0' }, mode: 'Standalone' } as const;
    expect(dataSetIdOf({ apiVersion: 'v1', kind: 'RedisCluster', metadata, spec })).toBe('k1');
  });

  it('is taken at its word where no name was written, and is none without a hubUid', () => {
    expect(hubUidOf(meta({ [ANNOTATION.hubUid]: 'u1' }, 'any'))).toBe('u1');
    expect(hubUidOf(meta({ [ANNOTATION.hubUid]: '' }))).toBeUndefined();
    expect(hubUidOf(meta({ [ANNOTATION.hubUid]: 'x'.repeat(600) }))).toBeUndefined();
    expect(hubUidOf(meta({ [ANNOTATION.hubUid]: 'u1\nu2' }))).toBeUndefined();
    expect([hubUidOf(meta({})), originalOf(meta({ [ANNOTATION.hubName]: 'shop/other' }))]).toEqual([
      undefined,
      undefined,
    ]);
  });
});
