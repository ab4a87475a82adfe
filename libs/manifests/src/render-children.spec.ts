import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { ANNOTATION, asDataSetId, LABEL, validateSpec, type KubeObject, type RedisClusterSpec } from '#domain';
import { nameObjects } from './names.ts';
import { CURRENT_RENDER_VERSION, renderChildren } from './render-children.ts';
import { redisDirectives } from './render-redis-config.ts';
import { resolveSpec } from './resolve-spec.ts';

const dataSetId = asDataSetId('0192f0a1-render');
const names = nameObjects('cart', dataSetId);

const render = (spec: Partial<RedisClusterSpec>, renderVersion = CURRENT_RENDER_VERSION): readonly KubeObject[] => {
  const whole: RedisClusterSpec = { engine: { type: 'Redis', version: '8.0' }, mode: 'Sentinel', ...spec };
  expect(validateSpec(whole)).toEqual([]);
  return renderChildren({ name: 'cart', namespace: 'shop', dataSetId, spec: resolveSpec(whole), renderVersion });
};

/** Reads a field by path, for instance `spec.template.spec.containers.0.image`. */
const at = (object: unknown, path: string): unknown =>
  path.split('.').reduce<unknown>((value, key) => (value as Record<string, unknown> | undefined)?.[key], object);
const find = (objects: readonly KubeObject[], kind: string, name: string): KubeObject => {
  const found = objects.find((object) => object.kind === kind && object.metadata.name === name);
  if (found === undefined) throw new Error(`no ${kind} ${name}`);
  return found;
};
const kinds = (objects: readonly KubeObject[]) => objects.map(({ kind, metadata }) => `${kind} ${metadata.name}`);
const PERSISTENT = { storage: { type: 'PersistentVolume', size: '1Gi' } } as const;
const POD = 'spec.template.spec';

describe('renderChildren', () => {
  it('gives the same bytes twice', () => {
    expect(JSON.stringify(render(PERSISTENT))).toBe(JSON.stringify(render(PERSISTENT)));
  });

  it('lists what a pod needs before the pod', () => {
    expect(kinds(render({}))).toEqual([
      'ServiceAccount cart',
      `ConfigMap ${names.scripts}`,
      `ConfigMap ${names.config}`,
      `Service ${names.podsService}`,
      'Service cart',
      'Service cart-replicas',
      'Service cart-sentinel',
      `PodDisruptionBudget ${names.redis}`,
      `PodDisruptionBudget ${names.sentinel}`,
      `StatefulSet ${names.redis}`,
      `StatefulSet ${names.sentinel}`,
    ]);
  });

  it('makes no Sentinels and no replicas Service for a Standalone', () => {
    expect(kinds(render({ mode: 'Standalone' })).join()).not.toMatch(/sentinel|replicas/);
  });

  it('refuses a render version that it does not know', () => {
    expect(() => render({}, 99)).toThrow(RangeError);
  });

  it('labels every object with its data set and owns none of them by reference', () => {
    for (const { metadata } of render(PERSISTENT)) {
      expect(metadata.labels?.[LABEL.dataSet]).toBe(names.hash);
      expect(metadata).not.toHaveProperty('ownerReferences');
    }
  });

  it('carries the recommended labels on every object and on every pod', () => {
    const wanted = {
      [LABEL.name]: 'redis',
      [LABEL.instance]: 'cart',
      [LABEL.component]: expect.stringMatching(/^(redis|sentinel|all)$/) as unknown,
      [LABEL.managedBy]: 'atoll',
      [LABEL.partOf]: 'atoll',
    };
    for (const object of render(PERSISTENT)) {
      expect(object.metadata.labels).toMatchObject(wanted);
      if (object.kind === 'StatefulSet') expect(at(object, 'spec.template.metadata.labels')).toMatchObject(wanted);
    }
  });

  it('keeps its ports out of a sidecar in a mesh, and is untouched without one', () => {
    const sets = (mesh: 'None' | 'Istio') =>
      render({ networking: { mesh } }).filter(({ kind }) => kind === 'StatefulSet');
    const ports = '6379,26379';
    for (const set of sets('Istio')) {
      const annotations = at(set, 'spec.template.metadata.annotations') as Record<string, string>;
      expect(annotations).toMatchObject({
        'traffic.sidecar.istio.io/excludeInboundPorts': ports,
        'traffic.sidecar.istio.io/excludeOutboundPorts': ports,
      });
      expect(JSON.parse(annotations['proxy.istio.io/config'] ?? '')).toEqual({ holdApplicationUntilProxyStarts: true });
      expect(at(set, `${POD}.securityContext.runAsNonRoot`)).toBe(true);
    }
    expect(JSON.stringify(render({ networking: { mesh: 'Istio' } }))).toContain('"appProtocol":"tcp"');
    expect(render({ networking: { mesh: 'None' } })).toEqual(render({}));
    expect(JSON.stringify(render({}))).not.toMatch(/istio|appProtocol/);
  });

  it('changes nothing in a pod template when size, live configuration or Sentinel timing change', () => {
    const templates = (spec: Partial<RedisClusterSpec>) =>
      render(spec)
        .filter(({ kind }) => kind === 'StatefulSet')
        .map((set) => at(set, 'spec.template'));
    const before = templates({ size: 3, config: { 'maxmemory-policy': 'noeviction' } });
    const after = templates({
      size: 5,
      config: { 'maxmemory-policy': 'allkeys-lru' },
      sentinel: { downAfter: '10s' },
      deletionPolicy: 'Delete',
    });
    expect(after).toEqual(before);
    expect(templates({ config: { databases: '4' } })).not.toEqual(before);
  });
});

describe('a StatefulSet of ours', () => {
  it.each([names.redis, names.sentinel])('%s restarts nothing by itself and starts all pods at once', (name) => {
    expect(find(render({}), 'StatefulSet', name)['spec']).toMatchObject({
      updateStrategy: { type: 'OnDelete' },
      podManagementPolicy: 'Parallel',
      persistentVolumeClaimRetentionPolicy: { whenDeleted: 'Retain', whenScaled: 'Retain' },
      serviceName: names.podsService,
    });
  });

  it.each([names.redis, names.sentinel])('%s passes Pod Security "restricted"', (name) => {
    const set = find(render(PERSISTENT), 'StatefulSet', name);
    expect(at(set, `${POD}.securityContext`)).toMatchObject({
      runAsNonRoot: true,
      seccompProfile: { type: 'RuntimeDefault' },
    });
    expect(at(set, `${POD}.containers.0.securityContext`)).toEqual({
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ['ALL'] },
    });
    expect(at(set, `${POD}.automountServiceAccountToken`)).toBe(false);
  });

  it.each([names.redis, names.sentinel])(
    '%s gives a lost node up after 30 s and spreads over nodes and zones',
    (name) => {
      const pod = at(find(render({}), 'StatefulSet', name), POD);
      expect(at(pod, 'tolerations')).toMatchObject([{ tolerationSeconds: 30 }, { tolerationSeconds: 30 }]);
      expect(at(pod, 'topologySpreadConstraints')).toMatchObject([
        { topologyKey: 'kubernetes.io/hostname', whenUnsatisfiable: 'ScheduleAnyway' },
        { topologyKey: 'topology.kubernetes.io/zone', whenUnsatisfiable: 'ScheduleAnyway' },
      ]);
    },
  );

  it('mounts the credentials as files and has none in environment or arguments', () => {
    for (const name of [names.redis, names.sentinel]) {
      const container = at(find(render({}), 'StatefulSet', name), `${POD}.containers.0`);
      expect(JSON.stringify(at(container, 'env'))).not.toMatch(/secret/i);
      expect(at(container, 'volumeMounts')).toContainEqual({
        name: 'credentials',
        mountPath: '/etc/atoll/credentials',
        readOnly: true,
      });
    }
  });

  it('carries the maxmemory that goes with its memory limit: 75 % of it, or none', () => {
    const maxmemory = (spec: Partial<RedisClusterSpec>) =>
      (at(find(render(spec), 'StatefulSet', names.redis), `${POD}.containers.0.env`) as { name: string }[]).find(
        ({ name }) => name === 'MAXMEMORY',
      );
    expect(maxmemory({ resources: { limits: { memory: '100Mi' } } })).toMatchObject({ value: '78643200' });
    expect(maxmemory({})).toMatchObject({ value: '0' });
    // What spec.memory declares is changed without a restart, so it may not stand in the template.
    const declared = { resources: { limits: { memory: '100Mi' } }, memory: { maxmemory: '10mb' } };
    expect(maxmemory(declared)).toMatchObject({ value: '78643200' });
  });

  it('claims a volume per pod only when asked to, labelled with the data set', () => {
    const claims = at(find(render(PERSISTENT), 'StatefulSet', names.redis), 'spec.volumeClaimTemplates');
    expect(claims).toMatchObject([{ metadata: { name: 'data', labels: { [LABEL.dataSet]: names.hash } } }]);
    const ephemeral = find(render({}), 'StatefulSet', names.redis);
    expect(at(ephemeral, 'spec.volumeClaimTemplates')).toBeUndefined();
    expect(at(ephemeral, `${POD}.volumes`)).toContainEqual({ name: 'data', emptyDir: {} });
  });
});

describe('the Services', () => {
  it('select a role that only the agent sets', () => {
    const objects = render({});
    expect(at(find(objects, 'Service', 'cart'), 'spec.selector')).toMatchObject({ [LABEL.role]: 'primary' });
    expect(at(find(objects, 'Service', 'cart-replicas'), 'spec.selector')).toMatchObject({ [LABEL.role]: 'replica' });
  });

  it('publish addresses before readiness on the headless one, or a full restart never ends', () => {
    expect(find(render({}), 'Service', names.podsService)['spec']).toMatchObject({
      clusterIP: 'None',
      publishNotReadyAddresses: true,
    });
  });
});

describe('redis.conf', () => {
  const conf = (spec: Partial<RedisClusterSpec>) =>
    (find(render(spec), 'ConfigMap', names.config)['data'] as Record<string, string>)['redis.conf'];

  it.each<[string, Partial<RedisClusterSpec>, string]>([
    ['bounds two primaries where there is a replica', { size: 2 }, 'min-replicas-to-write 1'],
    ['does so in mode Replication as well', { mode: 'Replication' }, 'min-replicas-to-write 1'],
    ['asks for no replica where there is none', { mode: 'Standalone' }, 'min-replicas-to-write 0'],
    ['asks for none at size 1 either', { mode: 'Replication', size: 1 }, 'min-replicas-to-write 0'],
    ['keeps an AOF with a volume', PERSISTENT, 'appendonly yes'],
    ['keeps none without', {}, 'appendonly no'],
    [
      'lets the user say less',
      { resources: { limits: { memory: '100Mi' } }, config: { maxmemory: '8mb' } },
      'maxmemory 8mb',
    ],
    [
      'has what spec.memory declares, in bytes',
      { resources: { limits: { memory: '100Mi' } }, memory: { maxmemoryPercent: 50 } },
      'maxmemory 52428800',
    ],
    ['has the policy of spec.memory', { memory: { policy: 'allkeys-lru' } }, 'maxmemory-policy allkeys-lru'],
    ['takes what the user sets', { config: { 'maxmemory-policy': 'allkeys-lfu' } }, 'maxmemory-policy allkeys-lfu'],
    ['writes an empty value as two quotes', {}, 'save ""'],
  ])('%s', (_, spec, line) => {
    expect(conf(spec)?.split('\n')).toContain(line);
  });
});

describe('redisDirectives', () => {
  it('leaves out a maxmemory that follows from the limit, which a running pod does not have yet', () => {
    const spec: RedisClusterSpec = { engine: { type: 'Redis', version: '8.0' }, mode: 'Sentinel' };
    const limited = { ...spec, resources: { limits: { memory: '100Mi' } } };
    expect(redisDirectives(resolveSpec(limited))).not.toHaveProperty('maxmemory');
    expect(redisDirectives(resolveSpec({ ...limited, config: { maxmemory: '8mb' } }))).toMatchObject({
      maxmemory: '8mb',
    });
  });
});

describe('render versions', () => {
  interface Recorded {
    readonly name: string;
    readonly namespace: string;
    readonly dataSetId: string;
    readonly cases: Readonly<Record<string, { spec: RedisClusterSpec; statefulSets: readonly KubeObject[] }>>;
  }
  const recorded = JSON.parse(
    readFileSync(new URL('../recorded/render-version-1.json', import.meta.url), 'utf8'),
  ) as Recorded;
  const setsOf = (spec: RedisClusterSpec, renderVersion: number): readonly KubeObject[] => {
    const { name, namespace, dataSetId } = recorded;
    const owner = { name, namespace, dataSetId: asDataSetId(dataSetId) };
    return renderChildren({ ...owner, spec: resolveSpec(spec), renderVersion }).filter(
      ({ kind }) => kind === 'StatefulSet',
    );
  };

  it.each(Object.entries(recorded.cases))('1 is what release 0.1.0 rendered, byte for byte: %s', (_, released) => {
    const partsOf = (sets: readonly KubeObject[]) =>
      sets.map((set) => {
        const { template, volumeClaimTemplates, selector, serviceName } = set['spec'] as Record<string, unknown>;
        return JSON.stringify([set.metadata.name, template, volumeClaimTemplates, selector, serviceName]);
      });
    expect(partsOf(setsOf(released.spec, 1))).toEqual(partsOf(released.statefulSets));
  });

  it.each(Object.entries(recorded.cases))('2 has another pod template, and tells its version: %s', (_, { spec }) => {
    const templates = (version: number) =>
      setsOf(spec, version).map((set) => (set['spec'] as { template: KubeObject }).template);
    expect(templates(2)).not.toEqual(templates(1));
    for (const { metadata } of templates(2)) expect(metadata.annotations?.[ANNOTATION.renderVersion]).toBe('2');
  });

  it('refuses a version that no release had, or a later one has', () => {
    const { spec } = recorded.cases['sentinel'] ?? {};
    for (const version of [0, CURRENT_RENDER_VERSION + 1]) {
      expect(() => setsOf(spec as RedisClusterSpec, version)).toThrow(/not known/);
    }
  });
});
