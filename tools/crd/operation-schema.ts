/**
 * RedisOperation as the API server checks it: one deed, asked for once. Its spec is fixed but for `cancel`, because an
 * operation that changes under the agent's hands would leave a trail of something nobody asked for. The spec that a Plan
 * proposes is taken as it is: the planner says what is wrong with it, which is what a plan is for.
 */
import {
  OPERATION_TYPES,
  REDIS_OPERATION_CRD_NAME,
  REDIS_OPERATION_KIND,
  REDIS_OPERATION_PLURAL,
  SPEC_LIMITS,
} from '#domain';
import { defineCrd } from './define-crd.ts';
import { choice, fields, flag, list, moment, text, whole, type Rule, type Schema } from './schema-parts.ts';

export const OPERATION_CRD_VERSION = 1;

const podName = (description: string): Schema =>
  text(description, { minLength: 1, maxLength: 63, pattern: '^[a-z0-9]([-a-z0-9]*[a-z0-9])?$' });

/** Member of the spec that belongs to a type, and whether the type needs it. */
const MEMBER_BY_TYPE = {
  Failover: { member: 'failover', needed: false },
  Restart: { member: 'restart', needed: false },
  RotateCredentials: { member: 'rotateCredentials', needed: false },
  ReplaceUnreachable: { member: 'replaceUnreachable', needed: true },
  Plan: { member: 'plan', needed: true },
  Consent: { member: 'consent', needed: true },
} as const satisfies Record<(typeof OPERATION_TYPES)[number], { member: string; needed: boolean }>;

const memberRules: readonly Rule[] = Object.entries(MEMBER_BY_TYPE).flatMap(([type, { member, needed }]): Rule[] => [
  {
    rule: `!has(self.${member}) || self.type == '${type}'`,
    message: `${member} belongs to type ${type}; remove it, or set that type.`,
    fieldPath: `.${member}`,
  },
  ...(needed
    ? [
        {
          rule: `self.type != '${type}' || has(self.${member})`,
          message: `type ${type} needs ${member}.`,
          fieldPath: '.type',
        },
      ]
    : []),
]);

const fixed = (name: string): Rule => ({
  rule: `has(self.${name}) == has(oldSelf.${name}) && (!has(self.${name}) || self.${name} == oldSelf.${name})`,
  message: `${name} cannot be changed: only cancel can. Create another RedisOperation.`,
  fieldPath: `.${name}`,
});

const FIXED = [
  'redisCluster',
  'type',
  'notAfter',
  'precondition',
  ...Object.values(MEMBER_BY_TYPE).map((m) => m.member),
];

const specFields = (): Readonly<Record<string, Schema>> => ({
  redisCluster: text('Name of the RedisCluster, in the same namespace.', {
    minLength: 1,
    maxLength: 40,
    pattern: '^[a-z]([-a-z0-9]*[a-z0-9])?$',
  }),
  type: choice(
    'Failover: a planned switchover. Restart. RotateCredentials. ReplaceUnreachable: a person says that a node is dead. Plan: tell what a spec would do. Consent: to a plan.',
    OPERATION_TYPES,
  ),
  notAfter: moment('It is not begun after this time; then it is Expired.'),
  precondition: fields('What must hold when it begins; otherwise it fails and nothing is done.', {
    generation: whole('metadata.generation of the RedisCluster.'),
    currentPrimary: podName('status.currentPrimary of the RedisCluster.'),
    primaryTerm: whole('status.primaryTerm of the RedisCluster.'),
  }),
  cancel: flag('True: steps that were begun end safely, and no other is begun.'),
  failover: fields('For type Failover.', {
    to: podName('Replica that becomes primary. Default: the one furthest along.'),
  }),
  restart: fields('For type Restart.', {
    pods: list('Pods to restart, data pods or Sentinels. Default: all.', podName('Name of a pod.'), {
      maxItems: SPEC_LIMITS.maxSize + SPEC_LIMITS.maxSentinels,
    }),
  }),
  replaceUnreachable: fields(
    'For type ReplaceUnreachable.',
    { pod: podName('The pod, on a node that its author knows to be dead.') },
    { required: ['pod'] },
  ),
  rotateCredentials: fields('For type RotateCredentials.', {
    users: list(
      'Users that get a new password. Default: all.',
      text('Name of a user.', { minLength: 1, maxLength: 63 }),
      {
        maxItems: SPEC_LIMITS.maxUsers + 4,
      },
    ),
  }),
  plan: fields(
    'For type Plan.',
    {
      spec: {
        type: 'object',
        description: 'The whole spec of the RedisCluster that is proposed.',
        'x-kubernetes-preserve-unknown-fields': true,
      },
    },
    { required: ['spec'] },
  ),
  consent: fields(
    'For type Consent.',
    {
      planHash: text('status.plan.hash of a RedisOperation Plan.', { minLength: 1, maxLength: 128 }),
      expires: moment('Until when the consent holds.'),
    },
    { required: ['planHash'] },
  ),
});

const preview = fields('For type Plan: what the proposed spec would do.', {
  hash: text('Names this plan, for a Consent.'),
  actions: list(
    'What the agent would do, in order.',
    fields('One action.', {
      kind: text('Its kind.'),
      object: text('What it touches.'),
      message: text('What and why.'),
    }),
  ),
  restarts: list('Pods that would be restarted, in order.', text('Name of a pod.')),
  predictedSeconds: whole('How long it would take.'),
  peakMemoryBytes: whole('Highest use of memory by all pods at once.'),
  refusals: list(
    'Why the spec, or a part of it, would not be applied.',
    fields('One refusal.', { reason: text('Stable code.'), message: text('A sentence for people.') }),
  ),
});

const condition = fields(
  'One condition, as kstatus reads them.',
  {
    type: text('Name of the condition.'),
    status: choice('True, False or Unknown.', ['True', 'False', 'Unknown']),
    reason: text('Stable code.'),
    message: text('A sentence for people.'),
    observedGeneration: whole('Generation of the spec that it speaks of.'),
    lastTransitionTime: moment('When the status last changed.'),
  },
  { required: ['type', 'status'] },
);

const statusFields = (): Readonly<Record<string, Schema>> => ({
  phase: text('Pending, Running, Succeeded, Failed, Cancelled or Expired.'),
  reason: text('Stable code.'),
  message: text('A sentence for people.'),
  startedAt: moment('When it began.'),
  finishedAt: moment('When it ended.'),
  steps: list(
    'What was done, in order.',
    fields(
      'One step.',
      {
        name: text('Its name.'),
        state: text('Pending, Running, Done or Failed.'),
        message: text('What it waits for, or came to.'),
        at: moment('When it came to this state.'),
      },
      { required: ['name', 'state'] },
    ),
  ),
  noted: {
    type: 'object',
    description: 'What was true when it began; its progress is told from this and the world.',
    additionalProperties: text('One fact by its name.'),
  },
  observedGeneration: whole('Generation of the spec that this status speaks of.'),
  plan: preview,
  conditions: list('Conditions by type.', condition, {
    'x-kubernetes-list-type': 'map',
    'x-kubernetes-list-map-keys': ['type'],
  }),
});

export const buildOperationSchema = (): Schema =>
  fields(
    'One deed on one RedisCluster, asked for once; its trail stays.',
    {
      apiVersion: text('Version of the schema of this object.'),
      kind: text('RedisOperation.'),
      metadata: { type: 'object' },
      spec: fields('What is asked. Fixed but for cancel.', specFields(), {
        required: ['redisCluster', 'type'],
        'x-kubernetes-validations': [
          ...memberRules,
          ...FIXED.map(fixed),
          {
            rule: '!has(oldSelf.cancel) || !oldSelf.cancel || (has(self.cancel) && self.cancel)',
            message: 'cancel cannot be taken back. Create another RedisOperation.',
            fieldPath: '.cancel',
          },
        ],
      }),
      status: fields('What became of it. Written by the agent only.', statusFields()),
    },
    { required: ['spec'] },
  );

const PRINTER_COLUMNS = [
  { name: 'Type', type: 'string', jsonPath: '.spec.type' },
  { name: 'Cluster', type: 'string', jsonPath: '.spec.redisCluster' },
  { name: 'Phase', type: 'string', jsonPath: '.status.phase' },
  { name: 'Reason', type: 'string', jsonPath: '.status.reason', priority: 1 },
  { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
] as const;

export const buildOperationCrd = (): Record<string, unknown> =>
  defineCrd({
    name: REDIS_OPERATION_CRD_NAME,
    kind: REDIS_OPERATION_KIND,
    plural: REDIS_OPERATION_PLURAL,
    singular: 'redisoperation',
    shortName: 'aro',
    version: OPERATION_CRD_VERSION,
    printerColumns: PRINTER_COLUMNS,
    schema: buildOperationSchema(),
  });
