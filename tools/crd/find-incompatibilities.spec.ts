import { describe, expect, it } from 'vitest';
import { buildSchema } from './build-crd.ts';
import { findIncompatibilities } from './find-incompatibilities.ts';
import type { Schema } from './schema-parts.ts';

const released: Schema = {
  type: 'object',
  required: ['mode'],
  properties: {
    mode: { type: 'string', enum: ['A', 'B'] },
    size: { type: 'integer', minimum: 1, maximum: 9 },
    config: { type: 'object', maxProperties: 10, additionalProperties: { type: 'string', maxLength: 100 } },
    pods: { type: 'array', items: { type: 'object', properties: { name: { type: 'string' } } } },
  },
  'x-kubernetes-validations': [{ rule: 'self.size > 0', message: 'size' }],
};

const change = (name: string, schema: Schema | undefined): Schema => {
  const properties: Record<string, Schema> = { ...released.properties };
  if (schema === undefined) delete properties[name];
  else properties[name] = schema;
  return { ...released, properties };
};

describe('findIncompatibilities', () => {
  it.each<[string, Schema]>([
    ['nothing changed', released],
    ['an optional field was added', change('extra', { type: 'string' })],
    ['a value was added to an enum', change('mode', { type: 'string', enum: ['A', 'B', 'C'] })],
    ['a limit was loosened', change('size', { type: 'integer', minimum: 0, maximum: 99 })],
    ['a limit was lifted', change('size', { type: 'integer' })],
    ['a rule was dropped', { ...released, 'x-kubernetes-validations': [] }],
    ['a field is no longer required', { ...released, required: [] }],
    [
      'a rule that is silent without a field that is new',
      {
        ...change('extra', { type: 'string' }),
        'x-kubernetes-validations': [{ rule: '!has(self.extra) || self.size > 1', message: 'm' }],
      },
    ],
  ])('accepts: %s', (_, current) => {
    expect(findIncompatibilities(released, current)).toEqual([]);
  });

  it.each<[string, Schema, string]>([
    ['a field was removed', change('size', undefined), 'size was removed'],
    ['a type changed', change('size', { type: 'string' }), 'size: type changed'],
    ['an enum lost a value', change('mode', { type: 'string', enum: ['A'] }), 'mode: B is no longer allowed'],
    ['a maximum fell', change('size', { type: 'integer', minimum: 1, maximum: 8 }), 'size: maximum fell from 9'],
    ['a minimum rose', change('size', { type: 'integer', minimum: 2, maximum: 9 }), 'size: minimum rose from 1'],
    ['an optional field became required', { ...released, required: ['mode', 'size'] }, 'size became required'],
    ['a pattern came in', change('mode', { type: 'string', enum: ['A', 'B'], pattern: '^A' }), 'mode: pattern changed'],
    [
      'values of a map were narrowed',
      change('config', { type: 'object', maxProperties: 10, additionalProperties: { type: 'string', maxLength: 9 } }),
      'config.*: maxLength fell',
    ],
    [
      'a field of list items was removed',
      change('pods', { type: 'array', items: { type: 'object', properties: {} } }),
      'pods[].name was removed',
    ],
    [
      'a rule was added',
      { ...released, 'x-kubernetes-validations': [{ rule: 'self.size < 5', message: 'm' }] },
      'a rule was added that may refuse stored objects: self.size < 5',
    ],
    [
      'a rule that is silent without a field that was there',
      { ...released, 'x-kubernetes-validations': [{ rule: '!has(self.size) || self.size > 1', message: 'm' }] },
      'a rule was added',
    ],
  ])('refuses: %s', (_, current, finding) => {
    expect(findIncompatibilities(released, current).join('\n')).toContain(finding);
  });

  it('finds the loss of any one field of the real schema', () => {
    const schema = buildSchema();
    const spec = schema.properties?.['spec'];
    const names = Object.keys(spec?.properties ?? {});
    expect(names.length).toBeGreaterThan(5);
    for (const lost of names) {
      const rest = Object.fromEntries(Object.entries(spec?.properties ?? {}).filter(([name]) => name !== lost));
      const current: Schema = { ...schema, properties: { ...schema.properties, spec: { ...spec, properties: rest } } };
      expect(findIncompatibilities(schema, current)).toEqual([`spec.${lost} was removed`]);
    }
  });
});
