import { describe, expect, it } from 'vitest';
import { OPERATOR_OWNED_CONFIG } from '#domain';
import { buildCrd, buildSchema } from './build-crd.ts';
import type { Schema } from './schema-parts.ts';

const walk = (schema: Schema, visit: (schema: Schema, path: string) => void, path = ''): void => {
  visit(schema, path);
  for (const [name, child] of Object.entries(schema.properties ?? {})) walk(child, visit, `${path}.${name}`);
  if (schema.items) walk(schema.items, visit, `${path}[]`);
  if (schema.additionalProperties) walk(schema.additionalProperties, visit, `${path}.*`);
};

describe('the RedisCluster CRD', () => {
  it('has no default anywhere: defaults are shown in status, not written into specs', () => {
    expect(JSON.stringify(buildCrd())).not.toContain('"default":');
  });

  it('describes every field for `kubectl explain`', () => {
    const silent: string[] = [];
    walk(buildSchema(), ({ description, type }, path) => {
      if (!description && type !== undefined && !/^$|metadata|config\.\*/.test(path)) silent.push(path);
    });
    expect(silent).toEqual([]);
  });

  it('names every operator-owned directive in a rule with its reason', () => {
    const config = buildSchema().properties?.['spec']?.properties?.['config'];
    const rules = config?.['x-kubernetes-validations'] ?? [];
    for (const [directive, reason] of Object.entries(OPERATOR_OWNED_CONFIG)) {
      const rule = rules.find(({ rule: cel }) => cel.includes(`'${directive}'`));
      expect(rule?.message).toContain(reason);
    }
  });

  it('is kept when its chart is uninstalled and orders itself by a whole number', () => {
    expect(buildCrd()['metadata']).toMatchObject({
      annotations: { 'helm.sh/resource-policy': 'keep', 'redis.atoll.dev/crd-version': expect.stringMatching(/^\d+$/) },
    });
  });
});
