/** The parts of the spec that say where pods run and how the agent cares for them: all of them optional. */
import { MAINTENANCE_DAYS, SPEC_LIMITS } from '#domain';
import { choice, duration, fields, flag, list, NO_INHERITED_NAME, text, whole, type Schema } from './schema-parts.ts';

const toleration = fields('One toleration, as in a pod.', {
  key: text('Key of the taint.', { maxLength: 317 }),
  operator: choice('Exists or Equal. Default Equal.', ['Exists', 'Equal']),
  value: text('Value of the taint.', { maxLength: 63 }),
  effect: choice('Effect of the taint. Default: every effect.', ['NoSchedule', 'PreferNoSchedule', 'NoExecute']),
  tolerationSeconds: whole('How long, with NoExecute.'),
});

export const schedulingSchema = (): Schema =>
  fields('Where pods run.', {
    nodeSelector: {
      type: 'object',
      description: 'Labels that a node must have.',
      additionalProperties: text('Value of the label.', { maxLength: 63 }),
      maxProperties: 32,
      'x-kubernetes-validations': [NO_INHERITED_NAME],
    },
    tolerations: list('Taints that the pods accept.', toleration, { maxItems: SPEC_LIMITS.maxTolerations }),
    priorityClassName: text('PriorityClass of the pods.', { minLength: 1, maxLength: 253 }),
    spread: fields('How the pods keep apart.', {
      node: choice('Required: a pod stays Pending rather than share a node. Default Preferred.', [
        'Preferred',
        'Required',
      ]),
      zone: choice('Required: a pod stays Pending rather than crowd a zone. Default Preferred.', [
        'Preferred',
        'Required',
      ]),
    }),
  });

export const updateStrategySchema = (): Schema =>
  fields('How a change that needs restarts reaches the pods.', {
    type: choice(
      'Rolling (default), or OnApproval: replicas are restarted, then a RedisOperation Consent is awaited before the primary is touched.',
      ['Rolling', 'OnApproval'],
    ),
    paused: flag('No pod is restarted for a change while true.'),
    partition: whole('At most this many data pods get the change: a canary. Default: all.', {
      minimum: 0,
      maximum: SPEC_LIMITS.maxSize,
    }),
  });

export const failoverSchema = (): Schema =>
  fields('How a lost primary is replaced.', {
    mode: choice('Automatic (default), or Manual: the agent never promotes by itself; Sentinels still do.', [
      'Automatic',
      'Manual',
    ]),
    dataLossPolicy: choice(
      'Refuse (default): stop and ask when acknowledged writes could be lost. Allow: be available and lose them.',
      ['Refuse', 'Allow'],
    ),
    minReplicasToWrite: whole(
      'Replicas that must follow for the primary to take writes; 0 turns it off. Default: half of the size.',
      { minimum: 0, maximum: SPEC_LIMITS.maxSize - 1 },
    ),
  });

const maintenanceWindow = fields(
  'A time in which restarts are welcome.',
  {
    days: list('Days of the week: Mon to Sun. Default: every day.', choice('Mon to Sun.', MAINTENANCE_DAYS), {
      maxItems: 7,
    }),
    start: text('Time of day, as 03:30.', { pattern: '^([01][0-9]|2[0-3]):[0-5][0-9]$', maxLength: 5 }),
    duration: {
      ...duration('How long, as 2h: from 10m to 24h.'),
      'x-kubernetes-validations': [
        {
          rule: "duration(self) >= duration('10m') && duration(self) <= duration('24h')",
          message: 'maintenanceWindows: duration must be from 10m to 24h.',
        },
      ],
    },
    timeZone: text('IANA name, as Europe/Berlin. Default UTC.', {
      minLength: 1,
      maxLength: 64,
      pattern: '^[A-Za-z][A-Za-z0-9_+/-]*$',
    }),
  },
  { required: ['start', 'duration'] },
);

export const careFields = (): Readonly<Record<string, Schema>> => ({
  scheduling: schedulingSchema(),
  updateStrategy: updateStrategySchema(),
  failover: failoverSchema(),
  maintenanceWindows: list('Restarts that can wait, wait for one of these. Default: any time.', maintenanceWindow, {
    maxItems: SPEC_LIMITS.maxMaintenanceWindows,
  }),
  networking: fields('How pods are reached.', {
    mesh: choice('Istio: the pods have a sidecar of Istio. Default None.', ['None', 'Istio']),
  }),
  monitoring: fields('What is measured.', {
    exporter: flag("The agent serves each Redis' metrics under redis_exporter's names. Default true."),
  }),
  fencing: fields(
    'Stops all writes of clients by hand.',
    { enabled: flag('True: every write is refused, and nothing is promoted until it is lifted.') },
    { required: ['enabled'] },
  ),
  hibernation: flag('True: no pods, everything else stays. The data must lie on volumes.'),
  suspend: flag('True: the agent only reports.'),
});
