// Who may import what: the table of docs/architecture.md. An exception is an ADR.
const lib = (name) => `^libs/${name}/`;
const allow = (from, to, comment) => ({
  name: `${from.replaceAll(/[^a-z]+/g, '-')}-imports`,
  severity: 'error',
  comment,
  from: { path: from, pathNot: '\\.spec\\.ts$' },
  to: { path: '^(apps|libs|migrations|tools|e2e|bench)/', pathNot: [from, ...to] },
});
const onlyImporter = (name, packages, owners) => ({
  name,
  severity: 'error',
  from: { pathNot: [...owners, '^(tools|e2e|bench)/', '\\.spec\\.ts$', '^libs/testing/'] },
  to: { path: packages.map((p) => `node_modules/${p}(/|$)`), dependencyTypesNot: ['type-only'] },
});
/** The rooms of the link in the hub, each with those it may look into; what composes them is beside them, at the top. */
const LINK = '^apps/hub/src/features/agent-link/';
const LINK_ROOMS = {
  admission: [],
  liveness: [],
  rollups: [],
  sessions: ['liveness'],
  desired: ['sessions', 'admission'],
  status: ['sessions'],
  connections: ['admission', 'sessions', 'desired', 'status', 'liveness'],
};
const linkRooms = Object.entries(LINK_ROOMS).map(([room, others]) => ({
  name: `link-room-${room}`,
  severity: 'error',
  from: { path: `${LINK}${room}/`, pathNot: '\\.spec\\.ts$' },
  to: { path: LINK, pathNot: [room, ...others].map((name) => `${LINK}${name}/`) },
}));
const hubFeature = '^apps/hub/src/features/([^/]+)/';

module.exports = {
  forbidden: [
    {
      name: 'no-circular',
      severity: 'error',
      from: {},
      to: { circular: true, viaOnly: { dependencyTypesNot: ['type-only'] } },
    },
    { name: 'no-unresolvable', severity: 'error', from: {}, to: { couldNotResolve: true } },
    allow(lib('domain'), [], 'domain imports nothing of ours'),
    allow(lib('manifests'), [lib('domain')]),
    allow(lib('planner'), [lib('domain'), lib('manifests')]),
    allow(lib('protocol'), [lib('domain')]),
    allow(lib('kube'), [lib('domain')]),
    allow(lib('redis'), [lib('domain')]),
    {
      name: 'pure-libs',
      severity: 'error',
      comment: 'planner is pure: no built-ins at all; manifests may hash',
      from: { path: lib('planner'), pathNot: '\\.spec\\.ts$' },
      to: { dependencyTypes: ['core'] },
    },
    {
      name: 'manifests-and-domain-without-effects',
      severity: 'error',
      from: { path: ['^libs/manifests/', '^libs/domain/'], pathNot: '\\.spec\\.ts$' },
      to: { dependencyTypes: ['core'], pathNot: '^(node:)?crypto$' },
    },
    allow('^apps/agent/src/observe/', [lib('kube'), lib('redis'), lib('domain')]),
    allow('^apps/agent/src/act/', [lib('kube'), lib('redis'), lib('domain'), lib('manifests')]),
    allow('^apps/agent/src/loop/', [lib('planner'), lib('domain'), '^apps/agent/src/(observe|act|report)/index\\.ts$']),
    allow('^apps/agent/src/(link|report)/', [lib('protocol'), lib('domain'), lib('kube')]),
    allow('^apps/agent/src/platform/', [lib('domain'), lib('kube'), '^helm/']),
    allow('^apps/hub/src/platform/', [lib('domain'), '^migrations/']),
    allow('^apps/hub/src/features/', [lib('domain'), lib('protocol'), '^apps/hub/src/platform/']),
    {
      name: 'hub-features-by-their-index',
      severity: 'error',
      comment: 'a feature sees another only through its index.ts',
      from: { path: hubFeature, pathNot: '\\.spec\\.ts$' },
      to: {
        path: '^apps/hub/src/features/',
        pathNot: ['^apps/hub/src/features/$1/', '^apps/hub/src/features/[^/]+/index\\.ts$'],
      },
    },
    ...linkRooms,
    {
      name: 'migrations-stand-alone',
      severity: 'error',
      from: { path: '^migrations/' },
      to: { path: '^(apps|libs)/' },
    },
    {
      name: 'testing-only-from-tests',
      severity: 'error',
      from: {
        path: '^(apps|libs)/',
        pathNot: ['\\.spec\\.ts$', '^libs/testing/', '^apps/hub/test/', '\\.contract\\.ts$'],
      },
      to: { path: '^libs/testing/' },
    },
    onlyImporter('kube-client-owner', ['@kubernetes/client-node'], ['^libs/kube/', '^libs/manifests/']),
    onlyImporter('redis-client-owner', ['ioredis'], ['^libs/redis/']),
    onlyImporter('orm-owner', ['typeorm', 'pg', '@nestjs/typeorm'], ['^apps/hub/', '^migrations/']),
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    exclude: { path: '^(dist|node_modules/.cache)/' },
    tsPreCompilationDeps: 'specify',
    tsConfig: { fileName: 'tsconfig.json' },
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['import', 'require', 'node', 'default', 'types'],
      extensions: ['.ts', '.js', '.json', '.mjs'],
    },
  },
};
