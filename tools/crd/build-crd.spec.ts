import { describe, expect, it } from 'vitest';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parse } from 'yaml';
import { INHERITED_NAMES, OPERATION_TYPES, OPERATOR_OWNED_CONFIG } from '#domain';
import { buildCrd, buildSchema } from './build-crd.ts';
import { buildOperationCrd, buildOperationSchema } from './operation-schema.ts';
import type { Schema } from './schema-parts.ts';

const walk = (schema: Schema, visit: (schema: Schema, path: string) => void, path = ''): void => {
  visit(schema, path);
  for (const [name, child] of Object.entries(schema.properties ?? {})) walk(child, visit, `${path}.${name}`);
  if (schema.items) walk(schema.items, visit, `${path}[]`);
  if (schema.additionalProperties) walk(schema.additionalProperties, visit, `${path}.*`);
};

const CRDS = [
  ['redisclusters', buildCrd(), buildSchema()],
  ['redisoperations', buildOperationCrd(), buildOperationSchema()],
] as const;

describe.each(CRDS)('the CRD of %s', (plural, crd, schema) => {
  it('has no default anywhere: defaults are shown in status, not written into specs', () => {
    expect(JSON.stringify(crd)).not.toContain('"default":');
  });

  it('is the same to Helm, which reads YAML 1.1, as to the agent, which carries JSON', async () => {
    const file = join(import.meta.dirname, `../../helm/atoll-crds/templates/${plural}.yaml`);
    expect(parse(await readFile(file, 'utf8'), { version: '1.1' })).toEqual(JSON.parse(JSON.stringify(crd)));
  });

  it('is kept when its chart is uninstalled and orders itself by a whole number', () => {
    expect(crd['metadata']).toMatchObject({
      annotations: { 'helm.sh/resource-policy': 'keep', 'redis.atoll.dev/crd-version': expect.stringMatching(/^\d+$/) },
    });
  });

  it('describes every field for `kubectl explain`', () => {
    const silent: string[] = [];
    walk(schema, ({ description, type }, path) => {
      if (!description && type !== undefined && !/^$|metadata|config\.\*/.test(path)) silent.push(path);
    });
    expect(silent).toEqual([]);
  });
});

describe('the RedisOperation CRD', () => {
  it('fixes every field of the spec but cancel, and ties a member to each type', () => {
    const spec = buildOperationSchema().properties?.['spec'] ?? {};
    const rules = (spec['x-kubernetes-validations'] ?? []).map(({ message }) => message).join('\n');
    const fixed = Object.keys(spec.properties ?? {}).filter((name) => name !== 'cancel');
    expect(fixed.length).toBeGreaterThan(8);
    for (const name of fixed) expect(rules).toContain(`${name} cannot be changed`);
    for (const type of OPERATION_TYPES) expect(rules).toContain(`belongs to type ${type}`);
  });
});

describe('the RedisCluster CRD', () => {
  it('refuses names that every object inherits, in each map and list of names that a user writes', () => {
    const without: string[] = [];
    const told = (schema: Schema): string =>
      (schema['x-kubernetes-validations'] ?? []).map(({ rule, message }) => `${rule} ${message}`).join('\n');
    const spec = buildSchema().properties?.['spec'] ?? {};
    let maps = 0;
    walk(spec, (schema, path) => {
      if (schema.additionalProperties === undefined && path !== '.auth.users[]') return;
      maps += 1;
      for (const name of INHERITED_NAMES) if (!told(schema).includes(`'${name}'`)) without.push(`${path}: ${name}`);
    });
    expect(without).toEqual([]);
    expect(maps).toBeGreaterThanOrEqual(7);
  });

  it('names every operator-owned directive in a rule with its reason', () => {
    const config = buildSchema().properties?.['spec']?.properties?.['config'];
    const rules = config?.['x-kubernetes-validations'] ?? [];
    for (const [directive, reason] of Object.entries(OPERATOR_OWNED_CONFIG)) {
      const rule = rules.find(({ rule: cel }) => cel.includes(`'${directive}'`));
      expect(rule?.message).toContain(reason);
    }
  });
});
