/**
 * The CustomResourceDefinition of RedisCluster. It is generated so that it cannot say anything else than libs/domain
 * does: limits, owned directives and names come from there. CRD_VERSION is raised with every change of the schema; an
 * agent never writes an older one over a newer one.
 */
import {
  MAX_REDIS_CLUSTER_NAME_LENGTH,
  REDIS_CLUSTER_CRD_NAME,
  REDIS_CLUSTER_KIND,
  REDIS_CLUSTER_PLURAL,
} from '#domain';
import { defineCrd } from './define-crd.ts';
import { NO_OLDER_VERSION } from './no-older-version.ts';
import { fields, text, type Rule, type Schema } from './schema-parts.ts';
import { specSchema } from './spec-schema.ts';
import { statusSchema } from './status-schema.ts';

export const CRD_VERSION = 2;

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
  NO_OLDER_VERSION,
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
export const buildCrd = (): Record<string, unknown> =>
  defineCrd({
    name: REDIS_CLUSTER_CRD_NAME,
    kind: REDIS_CLUSTER_KIND,
    plural: REDIS_CLUSTER_PLURAL,
    singular: 'rediscluster',
    shortName: 'arc',
    version: CRD_VERSION,
    printerColumns: PRINTER_COLUMNS,
    schema: buildSchema(),
  });
