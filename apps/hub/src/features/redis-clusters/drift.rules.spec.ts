import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { INHERITED_NAMES } from '#domain';
import { acceptFields, listDrift, type DriftReport } from './drift.rules.ts';

const spec = { mode: 'Sentinel', size: 3, config: { 'maxmemory-policy': 'noeviction' } };
const report = (more: Partial<DriftReport>): DriftReport => ({
  spec,
  foreignFields: null,
  statusAt: null,
  contested: null,
  deliveryAt: null,
  ...more,
});
const field = (path: string, live?: unknown) => ({
  path,
  manager: 'kubectl-edit',
  ...(live === undefined ? {} : { liveValue: JSON.stringify(live) }),
});

describe('drift', () => {
  it('names the field, its manager, the live and the wanted value', () => {
    expect(listDrift(report({ foreignFields: [field('spec.size', 5)] }))).toEqual([
      { path: 'spec.size', manager: 'kubectl-edit', liveValue: 5, wantedValue: 3 },
    ]);
  });
  it('is none where another manager holds the wanted value', () => {
    expect(listDrift(report({ foreignFields: [field('spec.size', 3)] }))).toEqual([]);
  });
  it('reaches into maps whose keys have dashes', () => {
    const [drift] = listDrift(report({ foreignFields: [field('spec.config.maxmemory-policy', 'allkeys-lru')] }));
    expect(drift).toMatchObject({ liveValue: 'allkeys-lru', wantedValue: 'noeviction' });
  });
  it.each(['not json', '['.repeat(20_000) + ']'.repeat(20_000)])(
    'shows a live value that cannot be read as text',
    (text) => {
      const foreignFields = [{ path: 'spec.size', manager: 'kubectl', liveValue: text }];
      expect(listDrift(report({ foreignFields }))[0]).toMatchObject({ liveValue: text, wantedValue: 3 });
    },
  );
  it('sees a removed field, and one the hub never asked for', () => {
    const drifts = listDrift(
      report({ foreignFields: [field('spec.config.maxmemory-policy'), field('spec.suspend', true)] }),
    );
    expect(drifts.map((drift) => [drift.liveValue, drift.wantedValue])).toEqual([
      [undefined, 'noeviction'],
      [true, undefined],
    ]);
  });
  it('counts contested fields until a newer status says otherwise', () => {
    const contested = [field('spec.size', 5)];
    const at = (ms: number): Date => new Date(ms);
    expect(listDrift(report({ contested, deliveryAt: at(2), statusAt: at(1), foreignFields: [] }))).toHaveLength(1);
    expect(listDrift(report({ contested, deliveryAt: at(2), statusAt: at(3), foreignFields: [] }))).toHaveLength(0);
  });
});

describe('accepting drift', () => {
  it('writes live values, removes what was removed, and leaves its input alone', () => {
    const drifts = listDrift(
      report({
        foreignFields: [
          field('spec.size', 5),
          field('spec.config.maxmemory-policy'),
          field('spec.storage.size', '1Gi'),
        ],
      }),
    );
    expect(acceptFields(spec, drifts)).toEqual({ mode: 'Sentinel', size: 5, config: {}, storage: { size: '1Gi' } });
    expect(spec.size).toBe(3);
  });
  it('writes nothing into prototypes', () => {
    const drifts = listDrift(report({ foreignFields: [field('spec.__proto__.polluted', true)] }));
    acceptFields(spec, drifts);
    expect(({} as { polluted?: boolean }).polluted).toBeUndefined();
  });
});

describe('names that every object inherits', () => {
  const maps = [
    'spec',
    'spec.config',
    'spec.resources.limits',
    'spec.sentinel.resources.requests',
    'spec.scheduling.nodeSelector',
    'spec.engine',
  ];
  const names = fc.constantFrom(...INHERITED_NAMES);
  const own = (value: unknown, path: string): unknown =>
    path.split('.').reduce((inner, name) => {
      const fields = inner as Record<string, unknown> | undefined;
      return fields !== undefined && Object.hasOwn(fields, name) ? fields[name] : undefined;
    }, value);

  it('are drift that somebody added, in every map of the spec, and are taken as they are', () => {
    fc.assert(
      fc.property(fc.constantFrom(...maps), names, fc.string(), (map, name, value) => {
        const path = `${map}.${name}`;
        const drifts = listDrift(report({ foreignFields: [field(path, value)] }));
        expect(drifts).toEqual([{ path, manager: 'kubectl-edit', liveValue: value, wantedValue: undefined }]);
        expect(own({ spec: acceptFields(spec, drifts) }, path)).toBe(value);
        expect(own({ spec }, path)).toBeUndefined();
      }),
    );
  });
  it('are found where the hub wants them, and are no drift then', () => {
    fc.assert(
      fc.property(names, (name) => {
        const wanted = { config: JSON.parse(`{"${name}":"x"}`) as object };
        const foreignFields = [field(`spec.config.${name}`, 'x')];
        expect(listDrift({ ...report({ foreignFields }), spec: wanted })).toEqual([]);
      }),
    );
  });
  it('do not hide in paths: a key with dots is one name', () => {
    const nodeSelector = { 'kubernetes.io/arch': 'arm64' };
    const wanted = { scheduling: { nodeSelector } };
    const foreignFields = [field('spec.scheduling.nodeSelector.kubernetes.io/arch', 'amd64')];
    const drifts = listDrift({ ...report({ foreignFields }), spec: wanted });
    expect(drifts).toMatchObject([{ liveValue: 'amd64', wantedValue: 'arm64' }]);
    expect(acceptFields(wanted, drifts)).toEqual({
      scheduling: { nodeSelector: { 'kubernetes.io/arch': 'amd64' } },
    });
  });
  it('and values without a canonical form are drift, not an error of the list', () => {
    const foreignFields = [{ path: 'spec.size', manager: 'x', liveValue: '"\\ud800"' }];
    expect(listDrift(report({ foreignFields }))).toMatchObject([{ wantedValue: 3 }]);
  });
});
