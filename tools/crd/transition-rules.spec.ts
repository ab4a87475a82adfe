import { runInNewContext } from 'node:vm';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { parseQuantity, type RedisClusterSpec, validateSpecChange } from '#domain';
import { buildSchema } from './build-crd.ts';
import release010 from './released/v0.1.0.json' with { type: 'json' };
import type { Rule, Schema } from './schema-parts.ts';

interface PlacedRule extends Rule {
  /** Of the object the rule stands on. */
  readonly at: readonly string[];
}

/** The rules that look at the old object, except the one that judges by status, which the hub does not know by heart. */
const transitionRules = (schema: Schema, at: readonly string[] = []): PlacedRule[] => [
  ...(schema['x-kubernetes-validations'] ?? [])
    .filter(({ rule }) => rule.includes('oldSelf') && !rule.includes('self.status'))
    .map((rule) => ({ ...rule, at })),
  ...Object.entries(schema.properties ?? {}).flatMap(([name, child]) => transitionRules(child, [...at, name])),
];

const specOf = (schema: Schema): Schema => schema.properties?.['spec'] ?? {};
const rules = transitionRules(specOf(buildSchema()));
const released = transitionRules(specOf(release010 as unknown as Schema));

/** These rules use only what CEL and JavaScript read alike, once `has` is spelled out. */
const holds = ({ rule, at }: PlacedRule, before: RedisClusterSpec, after: RedisClusterSpec): boolean => {
  const read = (spec: RedisClusterSpec): unknown => at.reduce<unknown>((value, name) => Object(value)[name], spec);
  const spelled = rule.replaceAll(/has\(([\w.]+)\)/g, (_, path: string) => `(${path} !== undefined)`);
  return runInNewContext(spelled, { self: read(after), oldSelf: read(before), ...QUANTITIES }) as boolean;
};

/** CEL's own functions on quantities. */
const QUANTITIES = {
  isQuantity: (text: string) => parseQuantity(text) !== undefined,
  quantity: (text: string) => ({
    amount: parseQuantity(text) ?? NaN,
    compareTo(other: { readonly amount: number }) {
      return Math.sign(this.amount - other.amount);
    },
  }),
};

const maybe = <T>(value: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> => fc.option(value, { nil: undefined });
const withoutUndefined = (value: unknown): unknown => JSON.parse(JSON.stringify(value));
const spec = fc
  .record({
    engine: fc.record({ type: fc.constantFrom('Redis', 'Valkey'), version: fc.constantFrom('8.0', '8.2') }),
    mode: fc.constantFrom('Standalone', 'Replication', 'Sentinel'),
    size: maybe(fc.integer({ min: 1, max: 5 })),
    sentinel: maybe(fc.record({ replicas: maybe(fc.constantFrom(3, 5)), quorum: maybe(fc.constantFrom(2, 3)) })),
    storage: maybe(
      fc.record({
        type: fc.constantFrom('Ephemeral', 'PersistentVolume'),
        size: maybe(fc.constantFrom('1Gi', '1024Mi', '2Gi', '1500M')),
        storageClassName: maybe(fc.constantFrom('fast', 'slow')),
      }),
    ),
    persistence: maybe(fc.record({ enabled: fc.boolean() })),
    deletionPolicy: maybe(fc.constantFrom('Delete', 'Deny')),
  })
  .map((value) => withoutUndefined(value) as RedisClusterSpec);

describe('validateSpecChange', () => {
  it('is about the transition rules of the CRD, one by one', () => {
    expect(rules.map(({ fieldPath }) => fieldPath)).toEqual(['.storage', '.storage', '.storage']);
  });

  it('says of any change just what the CRD says, in its words', () => {
    fc.assert(
      fc.property(spec, spec, (before, after) => {
        const refused = rules.filter((rule) => !holds(rule, before, after)).map(({ message }) => message);
        const problems = validateSpecChange(before, after);
        expect(problems.map(({ message }) => message).sort()).toEqual(refused.sort());
      }),
      { numRuns: 200 },
    );
  });

  it('refuses no change that 0.1.0 allowed', () => {
    expect(released.length).toBeGreaterThan(6);
    fc.assert(
      fc.property(spec, spec, (before, { storage }) => {
        const after: RedisClusterSpec = { ...before, ...(storage === undefined ? {} : { storage }) };
        if (validateSpecChange(before, after).length === 0) return;
        expect(released.some((rule) => !holds(rule, before, after))).toBe(true);
      }),
      { numRuns: 200 },
    );
  });

  it('names a field that lies where the CRD points', () => {
    const everything = (n: number): RedisClusterSpec => ({
      engine: { type: n === 1 ? 'Redis' : 'Valkey', version: '8.0' },
      mode: n === 1 ? 'Sentinel' : 'Replication',
      ...(n === 1 ? { sentinel: { replicas: 5 } } : {}),
      storage: { type: n === 1 ? 'Ephemeral' : 'PersistentVolume', size: `${9 - n}Gi`, storageClassName: `class-${n}` },
    });
    const problems = validateSpecChange(everything(1), everything(2));
    expect(problems.map(({ path }) => path.join('.'))).toEqual([
      'spec.storage.type',
      'spec.storage.storageClassName',
      'spec.storage.size',
    ]);
    for (const { path, message } of problems) {
      const rule = rules.find((one) => one.message === message);
      expect(path.join('.')).toMatch(new RegExp(`^spec.${[...(rule?.at ?? []), rule?.fieldPath?.slice(1)].join('.')}`));
    }
  });
});
