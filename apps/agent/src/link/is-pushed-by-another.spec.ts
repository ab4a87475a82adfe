import { describe, expect, it } from 'vitest';
import { ANNOTATION } from '#domain';
import { isPushedByAnother } from './is-pushed-by-another.ts';

const judge = (annotations: Readonly<Record<string, string>> | undefined): boolean =>
  isPushedByAnother(
    {
      apiVersion: 'v1',
      kind: 'RedisCluster',
      metadata: { name: 'a', namespace: 'shop', ...(annotations === undefined ? {} : { annotations }) },
    },
    { kind: 'CLUSTER' },
  );

describe('whose push an object is', () => {
  it.each<[string, Readonly<Record<string, string>> | undefined, boolean]>([
    ['pushed by the agent of a namespace', { [ANNOTATION.hubUid]: 'u', [ANNOTATION.pushedBy]: 'NAMESPACE/shop' }, true],
    ['pushed by this agent', { [ANNOTATION.hubUid]: 'u', [ANNOTATION.pushedBy]: 'CLUSTER' }, false],
    ['pushed by release 0.1.0', { [ANNOTATION.hubUid]: 'u' }, false],
    ['let go by the other one', { [ANNOTATION.pushedBy]: 'NAMESPACE/shop' }, false],
    [
      "a copy of the other one's",
      {
        [ANNOTATION.hubUid]: 'u',
        [ANNOTATION.hubName]: 'other/a',
        [ANNOTATION.pushedBy]: 'NAMESPACE/other',
      },
      false,
    ],
    ['made by hand', undefined, false],
  ])('%s: %s', (_, annotations, expected) => {
    expect(judge(annotations)).toBe(expected);
  });
});
