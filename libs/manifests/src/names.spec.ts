import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { asDataSetId } from '#domain';
import { formatDataSetHash, nameObjects, parseOrdinal, podName, sentinelId, volumeClaimName } from './names.ts';

describe('formatDataSetHash', () => {
  it('is the beginning of the base32 of the SHA-256 (checked against coreutils: sha256sum | base32)', () => {
    // printf abc | sha256sum | xxd -r -p | base32 → XJ4BNP4PAHH6UQKBIDPF3LRCEOYAGYNDSYLXVHFUCD7WD4QACWWQ====
    expect(formatDataSetHash(asDataSetId('abc'))).toBe('xj4bnp4pah');
    expect(formatDataSetHash(asDataSetId(''))).toBe('4oymiquy7q');
  });
});

describe('nameObjects', () => {
  const longest = 'a'.repeat(40);
  const names = nameObjects(longest, asDataSetId('0192f0a1'));

  it('fits StatefulSets into 52 characters, or their pods are refused for a label that is too long', () => {
    expect(names.redis.length).toBeLessThanOrEqual(52);
    expect(names.sentinel.length).toBeLessThanOrEqual(52);
  });

  it('fits everything else into 63 characters', () => {
    for (const name of Object.values(names)) expect(name.length).toBeLessThanOrEqual(63);
    expect(volumeClaimName(podName(names.redis, 14)).length).toBeLessThanOrEqual(63);
  });

  it('gives another data set of the same name other pods, volumes and another Sentinel master', () => {
    const other = nameObjects(longest, asDataSetId('0192f0a2'));
    for (const key of ['redis', 'sentinel', 'record', 'config', 'scripts', 'podsService', 'masterName'] as const) {
      expect(other[key]).not.toBe(names[key]);
    }
  });

  it('keeps what clients know: Services and Secrets go by the name alone', () => {
    const { primaryService, replicasService, sentinelService, connectionSecret } = nameObjects(
      'cart',
      asDataSetId('x'),
    );
    expect([primaryService, replicasService, sentinelService, connectionSecret]).toEqual([
      'cart',
      'cart-replicas',
      'cart-sentinel',
      'cart-connection',
    ]);
  });
});

describe('parseOrdinal', () => {
  it.each([
    ['cart-abcdefghij-0', 0],
    ['cart-abcdefghij-sentinel-12', 12],
    ['cart', undefined],
  ])('%s → %s', (pod, ordinal) => {
    expect(parseOrdinal(pod)).toBe(ordinal);
  });
});

describe('sentinelId', () => {
  it('is the SHA-1 of data set and ordinal, the same for every pod of that ordinal', () => {
    const expected = createHash('sha1').update('ds/2').digest('hex');
    expect(sentinelId(asDataSetId('ds'), 2)).toBe(expected);
    expect(sentinelId(asDataSetId('ds'), 1)).not.toBe(expected);
  });
});
