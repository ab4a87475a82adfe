import { describe, expect, it } from 'vitest';
import { explainRefusal, lintChart, renderChart, type ChartName, type Rendered } from './render-chart.ts';

const CHARTS: readonly ChartName[] = ['atoll-agent', 'atoll-crds', 'atoll-hub'];
const HUB = ['hub.address="hub.example:8444"', 'hub.enrolmentToken="once"', 'hub.ca="-----BEGIN CERTIFICATE-----"'];
const HELM_TIMEOUT_MS = 120_000;

interface Rule {
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly resourceNames?: readonly string[];
  readonly verbs: readonly string[];
}

interface Container {
  readonly image: string;
  readonly args?: readonly string[];
  readonly command?: readonly string[];
  readonly ports?: readonly object[];
  readonly env: readonly { readonly name: string; readonly value?: string }[];
  readonly securityContext: Readonly<Record<string, unknown>>;
}

const find = (objects: readonly Rendered[], kind: string): Rendered => {
  const found = objects.find((object) => object.kind === kind);
  if (found === undefined) throw new Error(`no ${kind} among ${objects.map((object) => object.kind).join(', ')}`);
  return found;
};
const rulesOf = (objects: readonly Rendered[]): readonly Rule[] =>
  objects.filter(({ kind }) => /Role$/.test(kind)).flatMap((role) => role['rules'] as Rule[]);
const podOf = (objects: readonly Rendered[]) => {
  const { template } = find(objects, 'Deployment')['spec'] as { template: { spec: Record<string, unknown> } };
  return template.spec;
};
const containerOf = (objects: readonly Rendered[]): Container => (podOf(objects)['containers'] as Container[])[0]!;
const environmentOf = (objects: readonly Rendered[]): Record<string, string | undefined> =>
  Object.fromEntries(containerOf(objects).env.map(({ name, value }) => [name, value]));

/** What the agent does with each right; one that nothing here explains must not be in a chart. */
const RIGHTS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  redisclusters: {
    'list watch': 'the picture',
    'create patch': 'what the hub pushes; the finalizer',
    get: 'read anew before a push or a tombstone is acted on',
    delete: 'tombstones',
  },
  'redisclusters/status': { patch: 'the report', get: 'server-side apply reads before it writes' },
  redisoperations: { 'get list watch': 'the picture', delete: 'the history limit' },
  'redisoperations/status': { patch: 'the report', get: 'server-side apply reads before it writes' },
  pods: { 'get list watch': 'the picture', patch: 'role labels', delete: 'one that never started' },
  'pods/eviction': { create: 'restarts' },
  services: { 'get list watch': 'the picture', 'create patch': 'children', delete: 'deletionPolicy' },
  configmaps: {
    'get list watch': 'the picture',
    'create patch': 'children, atoll-scope, state',
    delete: 'deletionPolicy',
  },
  serviceaccounts: { 'get list watch': 'the picture', 'create patch': 'children', delete: 'deletionPolicy' },
  persistentvolumeclaims: { 'get list watch': 'the picture', patch: 'growth', delete: 'deletionPolicy' },
  secrets: { get: 'by name', 'create patch': 'credentials, connection, identity', delete: 'deletionPolicy' },
  statefulsets: { 'get list watch': 'the picture', 'create patch': 'children', delete: 'deletionPolicy, growth' },
  poddisruptionbudgets: { 'get list watch': 'the picture', 'create patch': 'children', delete: 'deletionPolicy' },
  events: { create: 'told', patch: 'counted' },
  leases: { create: 'the first', 'get update patch': 'renewal' },
  namespaces: { get: 'which member cluster this is' },
};
const CLUSTER_RIGHTS: typeof RIGHTS = {
  nodes: { 'get list watch': 'which are Ready, where a pod may run' },
  namespaces: { create: 'for an object that the hub wants in one that is not there' },
  customresourcedefinitions: {
    'get list watch': 'whether it is being deleted',
    'create patch': 'the agent brings its own',
  },
  storageclasses: { get: 'whether volumes can grow' },
};

const rightsIn = (table: typeof RIGHTS): string[] =>
  Object.entries(table).flatMap(([resource, verbs]) =>
    Object.keys(verbs).flatMap((list) => list.split(' ').map((verb) => `${resource} ${verb}`)),
  );

describe.each(CHARTS)('chart %s', { timeout: HELM_TIMEOUT_MS }, (chart) => {
  it('passes helm lint and renders with its defaults', async () => {
    await lintChart(chart);
    expect((await renderChart(chart)).length).toBeGreaterThan(0);
  });

  it('refuses a value that it does not know', async () => {
    expect(await explainRefusal(chart, ['replicaCounts=3'])).toMatch(/replicaCounts/);
  });
});

describe.each(['atoll-agent', 'atoll-hub'] as const)('the pod of %s', { timeout: HELM_TIMEOUT_MS }, (chart) => {
  it('passes Pod Security "restricted"', async () => {
    const objects = await renderChart(chart);
    expect(podOf(objects)['securityContext']).toMatchObject({
      runAsNonRoot: true,
      seccompProfile: { type: 'RuntimeDefault' },
    });
    expect(containerOf(objects).securityContext).toEqual({
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ['ALL'] },
    });
  });

  it('gets no ATOLL_ variables from Services, which would be unknown keys', async () => {
    expect(podOf(await renderChart(chart))['enableServiceLinks']).toBe(false);
  });
});

describe('chart atoll-agent', { timeout: HELM_TIMEOUT_MS }, () => {
  it('keeps the token in a Secret and out of the pod', async () => {
    const objects = await renderChart('atoll-agent', HUB);
    expect(find(objects, 'Secret')['stringData']).toMatchObject({ token: 'once' });
    expect(JSON.stringify(find(objects, 'Deployment'))).not.toContain('once');
    expect(environmentOf(objects)).toMatchObject({
      ATOLL_HUB_ADDRESS: 'hub.example:8444',
      ATOLL_ENROLMENT_TOKEN_FILE: '/etc/atoll/hub/token',
    });
  });

  it('without a hub has neither Secret nor address', async () => {
    const objects = await renderChart('atoll-agent');
    expect(objects.some(({ kind }) => kind === 'Secret')).toBe(false);
    expect(environmentOf(objects)).not.toHaveProperty('ATOLL_HUB_ADDRESS');
  });

  it('never lists or watches Secrets, in either scope', async () => {
    for (const scope of ['cluster', 'namespace']) {
      const rules = rulesOf(await renderChart('atoll-agent', [`scope="${scope}"`]));
      const onSecrets = rules.filter(({ resources }) => resources.includes('secrets'));
      expect(onSecrets.length).toBeGreaterThan(0);
      expect(onSecrets.flatMap(({ verbs }) => verbs)).not.toContain('list');
      expect(onSecrets.flatMap(({ verbs }) => verbs)).not.toContain('watch');
      expect(JSON.stringify(rules)).not.toContain('*');
    }
  });

  it('reads, labels, evicts and deletes pods, and makes none: StatefulSets do', async () => {
    const rules = rulesOf(await renderChart('atoll-agent'));
    const onPods = rules.filter(({ resources }) => resources.some((name) => /^pods(\/|$)/.test(name)));
    expect(onPods.map(({ resources, verbs }) => [resources, verbs])).toEqual([
      [['pods'], ['get', 'list', 'watch', 'patch', 'delete']],
      [['pods/eviction'], ['create']],
    ]);
  });

  it.each(['namespace', 'cluster'])(
    'in scope %s holds the rights that are used, each for a reason, and no other',
    async (scope) => {
      const held = rulesOf(await renderChart('atoll-agent', [`scope="${scope}"`])).flatMap((rule) =>
        rule.resources.flatMap((resource) => rule.verbs.map((verb) => `${resource} ${verb}`)),
      );
      const wanted = [...rightsIn(RIGHTS), ...(scope === 'cluster' ? rightsIn(CLUSTER_RIGHTS) : [])];
      expect([...new Set(held)].sort()).toEqual([...new Set(wanted)].sort());
    },
  );

  it('with named namespaces binds what it does there in each of them, and nothing namespaced in the whole cluster', async () => {
    const objects = await renderChart('atoll-agent', ['limits.namespaces=["shop","blog","shop"]']);
    const bindings = objects.filter(
      ({ kind, roleRef }) => kind === 'RoleBinding' && /-served$/.test((roleRef as { name: string }).name),
    );
    expect(bindings.map(({ metadata }) => (metadata as { namespace?: string }).namespace)).toEqual(['shop', 'blog']);
    const byName = (suffix: RegExp) =>
      rulesOf(objects.filter(({ kind, metadata }) => kind === 'ClusterRole' && suffix.test(metadata.name)));
    const everywhere = byName(/^atoll-system-atoll-agent$/);
    expect([...new Set(everywhere.flatMap(({ resources }) => resources))].sort()).toEqual([
      'customresourcedefinitions',
      'namespaces',
      'nodes',
      'storageclasses',
    ]);
    expect(everywhere.filter(({ resources }) => resources.includes('namespaces'))).toEqual([
      { apiGroups: [''], resources: ['namespaces'], resourceNames: ['kube-system'], verbs: ['get'] },
      { apiGroups: [''], resources: ['namespaces'], resourceNames: ['shop', 'blog'], verbs: ['get'] },
    ]);
    expect(byName(/-served$/).flatMap(({ resources }) => resources)).toContain('statefulsets');
    const bound = objects.filter(({ kind }) => kind === 'ClusterRoleBinding').map(({ roleRef }) => roleRef);
    expect(bound).toMatchObject([{ name: 'atoll-system-atoll-agent' }]);
  });

  it('in scope namespace has no right outside its namespace', async () => {
    const objects = await renderChart('atoll-agent', ['scope="namespace"']);
    expect(objects.filter(({ kind }) => kind.startsWith('ClusterRole'))).toEqual([]);
    expect(environmentOf(objects)).toMatchObject({ ATOLL_SCOPE: 'NAMESPACE', ATOLL_MANAGE_CRDS: 'false' });
  });

  it('writes no CRD but its own, and none where it does not manage them', async () => {
    const writes = (rules: readonly Rule[]) =>
      rules.filter(
        ({ resources, verbs }) => resources.includes('customresourcedefinitions') && verbs.includes('patch'),
      );
    const managing = writes(rulesOf(await renderChart('atoll-agent')));
    expect(managing.map(({ resourceNames }) => resourceNames)).toEqual([
      ['redisclusters.redis.atoll.dev', 'redisoperations.redis.atoll.dev'],
    ]);
    expect(writes(rulesOf(await renderChart('atoll-agent', ['crds.manage=false'])))).toEqual([]);
  });

  it('hands the limits to the agent', async () => {
    const objects = await renderChart('atoll-agent', [
      'limits.namespaces=["shop","blog"]',
      'limits.imageRegistries=["docker.io"]',
      'limits.acceptDeletes=false',
      'limits.maxDeletes=0',
      'limits.protectedNamespaces=["istio-*","vault"]',
      'limits.priorityClasses=["gold"]',
      'limits.maxRedisClusters=7',
      'limits.maxDestructiveChanges=0',
    ]);
    expect(environmentOf(objects)).toMatchObject({
      ATOLL_ALLOWED_NAMESPACES: 'shop,blog',
      ATOLL_ALLOWED_IMAGE_REGISTRIES: 'docker.io',
      ATOLL_ACCEPT_DELETES: 'false',
      ATOLL_MAX_DELETES: '0',
      ATOLL_PROTECTED_NAMESPACES: 'istio-*,vault',
      ATOLL_ALLOWED_PRIORITY_CLASSES: 'gold',
      ATOLL_MAX_REDIS_CLUSTERS: '7',
      ATOLL_MAX_DESTRUCTIVE_CHANGES: '0',
    });
  });

  it.each([
    'limits.priorityClasses=["system-node-critical"]',
    'scope="everything"',
    'hub.address="no-port"',
    'logLevel="loud"',
    'replicaCount=-1',
  ])('refuses %s', async (value) => {
    expect(await explainRefusal('atoll-agent', [value])).toMatch(/values don't meet the specifications/);
  });
});

interface PolicySpec {
  readonly podSelector: object;
  readonly ingress: readonly {
    readonly ports: readonly { readonly port: string | number }[];
    readonly from?: readonly object[];
  }[];
  readonly egress: readonly {
    readonly ports: readonly { readonly port: string | number }[];
    readonly to?: readonly object[];
  }[];
}
const policiesOf = (objects: readonly Rendered[]): readonly PolicySpec[] =>
  objects.filter(({ kind }) => kind === 'NetworkPolicy').map(({ spec }) => spec as PolicySpec);
const portsOf = (rules: PolicySpec['ingress']): readonly unknown[] =>
  rules.flatMap(({ ports }) => ports.map(({ port }) => port));

describe('NetworkPolicies', { timeout: HELM_TIMEOUT_MS }, () => {
  const PROMETHEUS = '[{"namespaceSelector":{"matchLabels":{"kubernetes.io/metadata.name":"monitoring"}}}]';

  it.each(CHARTS)('are not in chart %s unless they are asked for', async (chart) => {
    expect(policiesOf(await renderChart(chart, chart === 'atoll-agent' ? HUB : []))).toEqual([]);
  });

  it('let the agent out to names, API server, hub and Redis, and in for metrics alone', async () => {
    const on = [...HUB, 'networkPolicy.enabled=true'];
    const [closed] = policiesOf(await renderChart('atoll-agent', on));
    expect(closed?.ingress).toEqual([]);
    expect(portsOf(closed?.egress ?? [])).toEqual([53, 53, 443, 6443, 8444, 6379, 26379]);
    const [open] = policiesOf(await renderChart('atoll-agent', [...on, `networkPolicy.metrics=${PROMETHEUS}`]));
    expect(open?.ingress).toMatchObject([{ ports: [{ port: 'health' }], from: [{ namespaceSelector: {} }] }]);
  });

  it('let into Redis its own pods, the agent and the clients, in each served namespace', async () => {
    const policies = (
      await renderChart('atoll-agent', [
        'networkPolicy.redis.enabled=true',
        'limits.namespaces=["shop","blog"]',
        'networkPolicy.redis.clients=[{"podSelector":{"matchLabels":{"app":"web"}}}]',
      ])
    ).filter(({ kind }) => kind === 'NetworkPolicy');
    expect(policies.map(({ metadata }) => (metadata as { namespace?: string }).namespace)).toEqual(['shop', 'blog']);
    const [spec] = policiesOf(policies);
    const redis = { matchLabels: { 'app.kubernetes.io/name': 'redis', 'app.kubernetes.io/part-of': 'atoll' } };
    expect(spec?.podSelector).toEqual(redis);
    expect(spec?.ingress[0]?.from).toMatchObject([
      { podSelector: redis },
      { podSelector: { matchLabels: { 'app.kubernetes.io/name': 'atoll-agent' } } },
      { podSelector: { matchLabels: { app: 'web' } } },
    ]);
    expect(await explainRefusal('atoll-agent', ['networkPolicy.redis.enabled=true'])).toMatch(/needs scope=namespace/);
  });

  it('let the hub out to names and its database, and in by port', async () => {
    const on = ['networkPolicy.enabled=true', 'database.existingSecret="db"', `networkPolicy.metrics=${PROMETHEUS}`];
    const [spec] = policiesOf(await renderChart('atoll-hub', on));
    expect(portsOf(spec?.ingress ?? [])).toEqual(['api', 'agents', 'metrics']);
    expect(portsOf(spec?.egress ?? [])).toEqual([53, 53, 5432]);
    const [embedded] = policiesOf(await renderChart('atoll-hub', ['networkPolicy.enabled=true']));
    expect(portsOf(embedded?.egress ?? [])).toEqual([53, 53]);
    expect(portsOf(embedded?.ingress ?? [])).toEqual(['api', 'agents']);
  });
});

describe('chart atoll-crds', { timeout: HELM_TIMEOUT_MS }, () => {
  it('keeps both CRDs when it is uninstalled', async () => {
    const crds = (await renderChart('atoll-crds')).filter(({ kind }) => kind === 'CustomResourceDefinition');
    expect(crds.map(({ metadata }) => metadata.name)).toEqual([
      'redisclusters.redis.atoll.dev',
      'redisoperations.redis.atoll.dev',
    ]);
    for (const { metadata } of crds) {
      expect(metadata).toMatchObject({ annotations: { 'helm.sh/resource-policy': 'keep' } });
    }
  });

  it('adds RedisClusters to the roles of the cluster', async () => {
    const labels = (await renderChart('atoll-crds')).flatMap(({ metadata }) => Object.keys(metadata.labels ?? {}));
    for (const role of ['admin', 'edit', 'view']) {
      expect(labels).toContain(`rbac.authorization.k8s.io/aggregate-to-${role}`);
    }
  });

  it('refuses the deletion of what says Deny', async () => {
    const objects = await renderChart('atoll-crds');
    expect(JSON.stringify(find(objects, 'ValidatingAdmissionPolicy'))).toContain("deletionPolicy != 'Deny'");
    expect(find(objects, 'ValidatingAdmissionPolicyBinding')['spec']).toMatchObject({ validationActions: ['Deny'] });
    const without = await renderChart('atoll-crds', ['denyDeletion=false']);
    expect(without.some(({ kind }) => kind === 'ValidatingAdmissionPolicy')).toBe(false);
  });
});

describe('chart atoll-hub', { timeout: HELM_TIMEOUT_MS }, () => {
  const SECRETS = ['database.existingSecret="db"', 'tls.existingSecret="tls"', 'adminToken.existingSecret="admin"'];

  it('reads every secret from a Secret', async () => {
    const objects = await renderChart('atoll-hub', [...SECRETS, 'persistence.enabled=false', 'replicaCount=3']);
    expect(objects.some(({ kind }) => kind === 'Secret')).toBe(false);
    expect(containerOf(objects).env.find(({ name }) => name === 'DATABASE_URL')).toMatchObject({
      valueFrom: { secretKeyRef: { name: 'db', key: 'url' } },
    });
    expect(find(objects, 'PodDisruptionBudget')['spec']).toMatchObject({ maxUnavailable: 1 });
  });

  it.each<[string, readonly string[], RegExp]>([
    ['replicas that would each have a CA of their own', ['replicaCount=2'], /needs database\.existingSecret/],
    ['no volume for what it makes itself', ['persistence.enabled=false'], /without persistence\.enabled/],
    ['an ingress without a host', ['ingress.enabled=true'], /needs ingress\.host/],
  ])('refuses %s', async (_, values, reason) => {
    expect(await explainRefusal('atoll-hub', values)).toMatch(reason);
  });

  it('never runs two pods on one volume', async () => {
    expect(find(await renderChart('atoll-hub'), 'Deployment')['spec']).toMatchObject({
      strategy: { type: 'Recreate' },
    });
  });

  it('offers the API by ingress when asked', async () => {
    const objects = await renderChart('atoll-hub', ['ingress.enabled=true', 'ingress.host="atoll.example"']);
    expect(JSON.stringify(find(objects, 'Ingress'))).toContain('atoll.example');
  });

  it('has a port of their own for metrics, where neither the Ingress nor the Service of the API leads', async () => {
    const objects = await renderChart('atoll-hub', ['ingress.enabled=true', 'ingress.host="atoll.example"']);
    const named = (name: string): string => JSON.stringify(objects.filter(({ metadata }) => metadata.name === name));
    expect(containerOf(objects).ports).toContainEqual({ name: 'metrics', containerPort: 8445 });
    expect(containerOf(objects).env).toContainEqual({ name: 'ATOLL_METRICS_PORT', value: '8445' });
    const published = objects.filter(
      ({ kind, metadata }) => kind === 'Ingress' || (kind === 'Service' && !metadata.name.endsWith('-metrics')),
    );
    expect(JSON.stringify(published.map((object) => object['spec']))).not.toMatch(/metrics|8445/);
    expect(named('atoll-hub-metrics')).toContain('"clusterIP":"None"');
    const without = await renderChart('atoll-hub', ['metrics.service=false']);
    expect(without.some(({ metadata }) => metadata.name === 'atoll-hub-metrics')).toBe(false);
  });
});
