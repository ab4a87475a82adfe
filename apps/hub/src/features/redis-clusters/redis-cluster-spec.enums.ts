/** Enums of a spec's fields: upper-case names for GraphQL, the custom resource's own words as values. */
import { registerEnumType } from '@nestjs/graphql';

export const FsyncPolicies = { ALWAYS: 'always', EVERYSEC: 'everysec', NO: 'no' } as const;
export const MaxmemoryPolicies = {
  NOEVICTION: 'noeviction',
  ALLKEYS_LRU: 'allkeys-lru',
  ALLKEYS_LFU: 'allkeys-lfu',
  ALLKEYS_RANDOM: 'allkeys-random',
  ALLKEYS_LRM: 'allkeys-lrm',
  VOLATILE_LRU: 'volatile-lru',
  VOLATILE_LFU: 'volatile-lfu',
  VOLATILE_RANDOM: 'volatile-random',
  VOLATILE_TTL: 'volatile-ttl',
  VOLATILE_LRM: 'volatile-lrm',
} as const;
export const TolerationOperators = { EXISTS: 'Exists', EQUAL: 'Equal' } as const;
export const TaintEffects = {
  NO_SCHEDULE: 'NoSchedule',
  PREFER_NO_SCHEDULE: 'PreferNoSchedule',
  NO_EXECUTE: 'NoExecute',
} as const;
export const SpreadRules = { PREFERRED: 'Preferred', REQUIRED: 'Required' } as const;
export const UpdateStrategyTypes = { ROLLING: 'Rolling', ON_APPROVAL: 'OnApproval' } as const;
export const FailoverModes = { AUTOMATIC: 'Automatic', MANUAL: 'Manual' } as const;
export const DataLossPolicies = { REFUSE: 'Refuse', ALLOW: 'Allow' } as const;
export const Meshes = { NONE: 'None', ISTIO: 'Istio' } as const;
export const DaysOfWeek = {
  MON: 'Mon',
  TUE: 'Tue',
  WED: 'Wed',
  THU: 'Thu',
  FRI: 'Fri',
  SAT: 'Sat',
  SUN: 'Sun',
} as const;

registerEnumType(FsyncPolicies, { name: 'FsyncPolicy' });
registerEnumType(MaxmemoryPolicies, {
  name: 'MaxmemoryPolicy',
  description: 'What is evicted when maxmemory is reached. Those with LRM need Redis 8.6.',
});
registerEnumType(TolerationOperators, { name: 'TolerationOperator' });
registerEnumType(TaintEffects, { name: 'TaintEffect' });
registerEnumType(SpreadRules, {
  name: 'SpreadRule',
  valuesMap: { REQUIRED: { description: 'A pod stays Pending rather than share.' } },
});
registerEnumType(UpdateStrategyTypes, {
  name: 'UpdateStrategyType',
  valuesMap: {
    ON_APPROVAL: {
      description: 'Replicas are restarted, then a RedisOperation Consent is awaited before the primary is touched.',
    },
  },
});
registerEnumType(FailoverModes, {
  name: 'FailoverMode',
  valuesMap: { MANUAL: { description: 'The agent never promotes by itself; Sentinels still do.' } },
});
registerEnumType(DataLossPolicies, {
  name: 'DataLossPolicy',
  valuesMap: {
    REFUSE: { description: 'Stop and ask when acknowledged writes could be lost.' },
    ALLOW: { description: 'Be available, and lose them.' },
  },
});
registerEnumType(Meshes, { name: 'Mesh' });
registerEnumType(DaysOfWeek, { name: 'DayOfWeek' });
