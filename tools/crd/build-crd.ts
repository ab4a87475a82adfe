/**
 * The CustomResourceDefinition of RedisCluster. It is generated so that it cannot say anything else than libs/domain
 * does: limits, owned directives and names come from there. CRD_VERSION is raised with every change of the schema; an
 * agent never writes an older one over a newer one.
 */
import {
  ANNOTATION,
  API_GROUP,
  API_VERSION,
  MAX_REDIS_CLUSTER_NAME_LENGTH,
  REDIS_CLUSTER_CRD_NAME,
  REDIS_CLUSTER_KIND,
  REDIS_CLUSTER_PLURAL,
} from '#domain';
import { fields, text, type Rule, type Schema } from './schema-parts.ts';
import { specSchema } from './spec-schema.ts';
import { statusSchema } from './status-schema.ts';

export const CRD_VERSION = 1;

const major = (version: string) => `int(${version}.split('.')[0])`;
const minor = (version: string) => `int(${version}.split('.')[1])`;
const patch = (version: string) => `int(${version}.split('.')[2])`;
const WANTED = 'self.spec.engine.version';
const RAN = 'self.status.primaryVersion';

const ROOT_RULES: readonly Rule[] = [
  {
    rule:
      `self.metadata.name.size() <= ${MAX_REDIS_CLUSTER_NAME_LENGTH} && ` +
      "self.metadata.name.matches('^[a-z]([-a-z0-9]*[a-z0-9])?$')",
    message: `The name may have at most ${MAX_REDIS_CLUSTER_NAME_LENGTH} characters: a-z, 0-9 and -, beginning with a letter.`,
  },
  {
    rule: "!self.metadata.name.endsWith('-replicas') && !self.metadata.name.endsWith('-sentinel')",
    message: 'The name may not end in -replicas or -sentinel: the Services of another RedisCluster are called so.',
  },
  {
    // Only a change of the version is judged: a tag that moved to a newer patch must never block a status update.
    rule:
      `${WANTED} == oldSelf.spec.engine.version || !has(self.status) || !has(${RAN}) || ` +
      `!${RAN}.matches('^[0-9]+[.][0-9]+[.][0-9]+$') || ` +
      `${major(WANTED)} > ${major(RAN)} || (${major(WANTED)} == ${major(RAN)} && (${minor(WANTED)} > ${minor(RAN)} || ` +
      `(${minor(WANTED)} == ${minor(RAN)} && (${WANTED}.split('.').size() < 3 || ${patch(WANTED)} >= ${patch(RAN)}))))`,
    message: 'engine.version is older than what a primary of this data set has run (status.primaryVersion).',
    fieldPath: '.spec.engine.version',
  },
];

const PRINTER_COLUMNS = [
  { name: 'Mode', type: 'string', jsonPath: '.spec.mode' },
  { name: 'Ready', type: 'string', jsonPath: '.status.ready' },
  { name: 'Primary', type: 'string', jsonPath: '.status.currentPrimary' },
  { name: 'Phase', type: 'string', jsonPath: '.status.phase' },
  { name: 'Version', type: 'string', jsonPath: '.status.engineVersion', priority: 1 },
  { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
] as const;

export const buildSchema = (): Schema =>
  fields(
    'One Redis or Valkey data set in this member cluster.',
    {
      apiVersion: text('Version of the schema of this object.'),
      kind: text('RedisCluster.'),
      metadata: { type: 'object' },
      spec: specSchema(),
      status: statusSchema(),
    },
    { required: ['spec'], 'x-kubernetes-validations': ROOT_RULES },
  );

/** The whole definition, as plain data. */
export const buildCrd = (): Record<string, unknown> => ({
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: {
    name: REDIS_CLUSTER_CRD_NAME,
    annotations: {
      // A chart that is uninstalled must not take every Redis of the cluster with it.
      'helm.sh/resource-policy': 'keep',
      [ANNOTATION.crdVersion]: String(CRD_VERSION),
    },
  },
  spec: {
    group: API_GROUP,
    scope: 'Namespaced',
    names: {
      kind: REDIS_CLUSTER_KIND,
      listKind: `${REDIS_CLUSTER_KIND}List`,
      plural: REDIS_CLUSTER_PLURAL,
      singular: 'rediscluster',
      shortNames: ['arc'],
      categories: ['atoll'],
    },
    conversion: { strategy: 'None' },
    versions: [
      {
        name: API_VERSION,
        served: true,
        storage: true,
        subresources: { status: {} },
        additionalPrinterColumns: PRINTER_COLUMNS,
        schema: { openAPIV3Schema: buildSchema() },
      },
    ],
  },
});
