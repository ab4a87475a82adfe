/** The parts of a spec that say where pods run and how the agent cares for them: what Kubernetes or time would refuse. */
import { parseDurationMs } from './parse-duration.ts';
import { isDnsSubdomain, isLabelValue, isQualifiedName } from './pod-field-grammar.ts';
import {
  MAINTENANCE_DAYS,
  type FailoverSpec,
  type MaintenanceWindow,
  type PersistenceSpec,
  type RedisClusterSpec,
  type SchedulingSpec,
  type TolerationSpec,
} from './redis-cluster-spec.ts';
import { SPEC_LIMITS, specProblem, type SpecProblem } from './spec-problem.ts';

const MIN_WINDOW_MS = 600_000;
const MAX_WINDOW_MS = 86_400_000;

export const validateCare = (spec: RedisClusterSpec): SpecProblem[] => [
  ...validatePersistence(spec.persistence, spec.config ?? {}),
  ...validateScheduling(spec.scheduling ?? {}),
  ...validatePartition(spec.updateStrategy?.partition),
  ...validateFailover(spec.failover ?? {}, spec),
  ...validateWindows(spec.maintenanceWindows ?? []),
];

const validatePersistence = (
  persistence: PersistenceSpec | undefined,
  config: Readonly<Record<string, string>>,
): SpecProblem[] => [
  ...(persistence?.rdb === undefined ? [] : refuseTwice(config, 'save', 'spec.persistence.rdb')),
  ...(persistence?.aof === undefined ? [] : refuseTwice(config, 'appendfsync', 'spec.persistence.aof')),
  ...validateSavePoints(persistence?.rdb?.save ?? []),
];

const refuseTwice = (config: Readonly<Record<string, string>>, directive: string, field: string): SpecProblem[] => {
  if (!Object.hasOwn(config, directive)) return [];
  const message = `config may not set ${directive} beside ${field}: say it once, in ${field}.`;
  return [specProblem(`config/${directive}`, 'INVALID_PERSISTENCE', message)];
};

type SavePoints = NonNullable<NonNullable<PersistenceSpec['rdb']>['save']>;

const validateSavePoints = (points: SavePoints): SpecProblem[] => {
  if (points.length > SPEC_LIMITS.maxSavePoints) {
    const message = `At most ${SPEC_LIMITS.maxSavePoints} points are accepted.`;
    return [specProblem('persistence/rdb/save', 'INVALID_PERSISTENCE', message)];
  }
  return points.flatMap((point, index) => {
    if (isCount(point.seconds) && isCount(point.changes)) return [];
    const message = 'seconds and changes are whole numbers of at least 1.';
    return [specProblem(`persistence/rdb/save/${index}`, 'INVALID_PERSISTENCE', message)];
  });
};

const isCount = (value: number): boolean => Number.isInteger(value) && value >= 1;

const validateScheduling = ({
  nodeSelector = {},
  tolerations = [],
  priorityClassName,
}: SchedulingSpec): SpecProblem[] => [
  ...Object.entries(nodeSelector).flatMap(([name, value]) =>
    isQualifiedName(name) && isLabelValue(value)
      ? []
      : [specProblem('scheduling/nodeSelector', 'INVALID_SCHEDULING', `${name}=${value} is no label of a node.`, name)],
  ),
  ...tolerations.flatMap((toleration, index) => {
    const message = explainToleration(toleration);
    return message === undefined ? [] : [specProblem(`scheduling/tolerations/${index}`, 'INVALID_SCHEDULING', message)];
  }),
  ...(priorityClassName === undefined || isDnsSubdomain(priorityClassName)
    ? []
    : [
        specProblem(
          'scheduling/priorityClassName',
          'INVALID_SCHEDULING',
          `${priorityClassName} is no name of a PriorityClass.`,
        ),
      ]),
];

/** The rules of Kubernetes' own validation of tolerations. */
const TOLERATION_RULES: readonly (readonly [isWrong: (toleration: TolerationSpec) => boolean, message: string])[] = [
  [({ key }) => key !== undefined && key !== '' && !isQualifiedName(key), 'This is no key of a taint.'],
  [({ key, operator }) => !key && operator !== 'Exists', 'Without a key the operator must be Exists.'],
  [({ operator, value }) => operator === 'Exists' && !!value, 'With operator Exists there is no value; remove it.'],
  [({ value }) => !isLabelValue(value ?? ''), 'This is no value of a taint.'],
  [
    ({ tolerationSeconds, effect }) => tolerationSeconds !== undefined && effect !== 'NoExecute',
    'tolerationSeconds goes with effect NoExecute only.',
  ],
];

const explainToleration = (toleration: TolerationSpec): string | undefined =>
  TOLERATION_RULES.find(([isWrong]) => isWrong(toleration))?.[1];

const validatePartition = (partition: number | undefined): SpecProblem[] => {
  const { maxSize } = SPEC_LIMITS;
  if (partition === undefined || (Number.isInteger(partition) && partition >= 0 && partition <= maxSize)) return [];
  const message = `It is a whole number from 0 to ${maxSize}, not ${partition}.`;
  return [specProblem('updateStrategy/partition', 'INVALID_UPDATE_STRATEGY', message)];
};

const validateFailover = (
  { minReplicasToWrite: min }: FailoverSpec,
  { mode, size }: RedisClusterSpec,
): SpecProblem[] => {
  const pods = size ?? (mode === 'Standalone' ? 1 : 3);
  if (min === undefined || (Number.isInteger(min) && min >= 0 && min < pods)) return [];
  const message = `minReplicasToWrite must be from 0 to ${pods - 1}, below size: with fewer replicas no write would ever be taken.`;
  return [specProblem('failover/minReplicasToWrite', 'INVALID_FAILOVER', message)];
};

const validateWindows = (windows: readonly MaintenanceWindow[]): SpecProblem[] => {
  if (windows.length > SPEC_LIMITS.maxMaintenanceWindows) {
    const message = `At most ${SPEC_LIMITS.maxMaintenanceWindows} windows are accepted.`;
    return [specProblem('maintenanceWindows', 'INVALID_MAINTENANCE_WINDOW', message)];
  }
  return windows.flatMap((window, index) => {
    const found = explainWindow(window);
    if (found === undefined) return [];
    return [specProblem(`maintenanceWindows/${index}/${found.field}`, 'INVALID_MAINTENANCE_WINDOW', found.message)];
  });
};

const explainWindow = (window: MaintenanceWindow): { readonly field: string; readonly message: string } | undefined => {
  const { days = [], start, duration, timeZone = 'UTC' } = window;
  const day = days.find((name) => !(MAINTENANCE_DAYS as readonly string[]).includes(name));
  if (day !== undefined) return { field: 'days', message: `${day} is no day; write ${MAINTENANCE_DAYS.join(', ')}.` };
  if (!/^(?:[01]\d|2[0-3]):[0-5]\d$/.test(start))
    return { field: 'start', message: `${start} is no time; write 03:30.` };
  const ms = parseDurationMs(duration) ?? 0;
  if (ms < MIN_WINDOW_MS || ms > MAX_WINDOW_MS) {
    return { field: 'duration', message: `${duration} is not from 10m to 24h.` };
  }
  if (isTimeZone(timeZone)) return undefined;
  return { field: 'timeZone', message: `${timeZone} is no IANA time zone; write for instance Europe/Berlin.` };
};

const isTimeZone = (name: string): boolean => {
  if (!/^[A-Za-z][A-Za-z0-9_+/-]*$/.test(name)) return false;
  try {
    new Intl.DateTimeFormat('en', { timeZone: name });
    return true;
  } catch {
    return false;
  }
};
