/** Maps whose names others choose, in spec, metadata, record and answers of servers: none of their names is looked up elsewhere. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { INHERITED_NAMES } from '#domain';
import type { RedisClusterSnapshot } from '#domain';
import { planHash, redisDirectives, resolveSpec } from '#manifests';
import { drawSettled, masterFacts, NOW_MS, withFacts } from '#testing';
import { planRedisCluster } from './plan-redis-cluster.ts';
import { DEFAULT_PLANNER_POLICY } from './planner-input.ts';

const plan = (snapshot: RedisClusterSnapshot) =>
  planRedisCluster({ snapshot, nowMs: NOW_MS, policy: DEFAULT_PLANNER_POLICY });
const mapOf = (name: string): Record<string, string> => JSON.parse(`{"${name}":"1"}`) as Record<string, string>;

const SPEC_MAPS: readonly ((map: Record<string, string>) => object)[] = [
  (config) => ({ config }),
  (limits) => ({ resources: { limits } }),
  (requests) => ({ resources: { requests } }),
  (limits) => ({ sentinel: { resources: { limits } } }),
  (nodeSelector) => ({ scheduling: { nodeSelector } }),
];
const names = fc.constantFrom(...INHERITED_NAMES);
const withSpec = (spec: object): RedisClusterSnapshot => {
  const snapshot = drawSettled();
  return { ...snapshot, resource: { ...snapshot.resource, spec: { ...snapshot.resource.spec, ...spec } } };
};

describe('a name that every object inherits', () => {
  it('in a map of the spec is SpecRejected with the name, and nothing is changed', () => {
    fc.assert(
      fc.property(fc.constantFrom(...SPEC_MAPS), names, (make, name) => {
        const made = plan(withSpec(make(mapOf(name))));
        const rejected = made.status.conditions.find(({ type }) => type === 'SpecRejected');
        expect(rejected).toMatchObject({ status: 'True', reason: 'InvalidSpec' });
        expect(rejected?.message).toContain(name);
        expect(made.actions.filter(({ kind }) => kind !== 'WriteRecord')).toEqual([]);
      }),
    );
  });

  it('in labels and annotations of the object, of its children and pods means nothing', () => {
    fc.assert(
      fc.property(names, (name) => {
        const settled = drawSettled();
        const more = { labels: mapOf(name), annotations: mapOf(name) };
        const { resource } = settled;
        const snapshot = {
          ...settled,
          resource: { ...resource, metadata: { ...resource.metadata, ...more } },
          children: settled.children.map((child) => ({
            ...child,
            metadata: {
              ...child.metadata,
              labels: { ...child.metadata.labels, ...more.labels },
              annotations: { ...child.metadata.annotations, ...more.annotations },
            },
          })),
        };
        expect(plan(snapshot).actions).toEqual(plan(settled).actions);
      }),
    );
  });

  it('in what a server answers means nothing', () => {
    fc.assert(
      fc.property(names, (name) => {
        const settled = drawSettled({ mode: 'Standalone', size: 1 });
        const spec = resolveSpec(settled.resource.spec);
        const facts = masterFacts('p', { config: redisDirectives(spec) });
        const poisoned = { ...facts, config: { ...redisDirectives(spec), ...mapOf(name) } };
        const calm = plan(withFacts(settled, { redis: [facts] }));
        expect(plan(withFacts(settled, { redis: [poisoned] })).actions).toEqual(calm.actions);
      }),
    );
  });

  it('is rendered as a name like any other', () => {
    fc.assert(
      fc.property(fc.constantFrom(...SPEC_MAPS), names, (make, name) => {
        const drawn = drawSettled(make(mapOf(name)));
        expect(drawn.children.length).toBe(drawSettled().children.length);
        expect(Object.keys(redisDirectives(resolveSpec(drawn.resource.spec))).sort()).toEqual(
          [
            ...Object.keys(redisDirectives(resolveSpec(drawSettled().resource.spec))),
            ...Object.keys(drawn.resource.spec.config ?? {}),
          ].sort(),
        );
        expect(planHash(drawn.resource.spec)).not.toBe(planHash(drawSettled().resource.spec));
      }),
    );
  });
});
