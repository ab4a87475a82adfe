/**
 * The status of one pass: only states, no moving numbers (04), so that the same world twice gives the same status.
 * Addresses and the name of the primary are the last confirmed ones until another is confirmed; while nobody is, and the
 * record names another, that one is the target. Without it a lost record is taken back with the new term and the old
 * primary.
 */
import { REDIS_PORT, SENTINEL_PORT } from '#domain';
import type {
  Action,
  DataSetRecord,
  Endpoints,
  Phase,
  PlannedStatus,
  PodRole,
  PodStatus,
  RolloutStatus,
} from '#domain';
import { assessHealth } from './assess-health.ts';
import type { Health } from './assess-health.ts';
import { buildConditions } from './build-conditions.ts';
import { answers } from './cluster-view.ts';
import type { AnsweringPod, ClusterView, DataPod } from './cluster-view.ts';
import { describeLeftBehind } from './describe-left-behind.ts';
import { describeCredentials } from './describe-credentials.ts';
import { listCapabilities } from './list-capabilities.ts';
import { judgeConfig } from './judge-config.ts';
import { isWaiting } from './replication-role.ts';
import { presentField } from './present-field.ts';
import { isAwaited } from './rollout/explain-hold.ts';
import type { Finding } from './rule.ts';

export interface StatusInput {
  readonly view: ClusterView;
  readonly primary: AnsweringPod | undefined;
  readonly findings: readonly Finding[];
  readonly actions: readonly Action[];
  readonly rollout: RolloutStatus | undefined;
}

export const buildStatus = (input: StatusInput): PlannedStatus => {
  const { view, primary, findings, actions } = input;
  const health = assessHealth(view, primary);
  const phase = choosePhase(input, health);
  return {
    phase,
    conditions: buildConditions({ view, health, findings, phase, actions }),
    readyPods: health.readyPods,
    size: view.spec.size,
    ...describePrimary(view, primary, actions),
    pods: view.dataPods.map((pod) => describeDataPod(pod, primary)),
    sentinels: view.sentinelPods.map((pod) => describePod(pod, pod.facts.reachable ? 'sentinel' : 'unknown')),
    endpoints: buildEndpoints(view, primary),
    dataSetId: view.dataSetId,
    renderVersion: view.renderVersion,
    ...presentField('config', view.specUsable ? judgeConfig(view).status : view.snapshot.resource.status?.config),
    ...presentField('credentials', describeCredentials(view)),
    ...presentField('rollout', input.rollout),
    setAside: describeLeftBehind(view),
    capabilities: listCapabilities({
      spec: view.spec,
      engineVersion: primary?.facts.version ?? view.snapshot.resource.status?.engineVersion,
    }),
  };
};

const describePrimary = (
  view: ClusterView,
  primary: AnsweringPod | undefined,
  actions: readonly Action[],
): Partial<PlannedStatus> => {
  const last = view.snapshot.resource.status ?? {};
  return {
    ...describeRecord(recordAfter(actions) ?? view.record),
    ...presentField('currentPrimary', primary?.name ?? last.currentPrimary),
    ...presentField('targetPrimary', findTarget(view, primary, actions)),
    ...presentField('engineVersion', primary?.facts.version ?? last.engineVersion),
  };
};

/**
 * Whom this plan makes primary, also in place of the confirmed one; else the recorded one, while nobody is confirmed. A
 * hand-over that came to nothing is left out by the reporter.
 */
const findTarget = (
  { record, snapshot }: ClusterView,
  primary: AnsweringPod | undefined,
  actions: readonly Action[],
): string | undefined => {
  const handover = actions.find((action) => action.kind === 'SwitchOver');
  if (handover !== undefined) return handover.to;
  const promoted = actions.find((action) => action.kind === 'PromotePod');
  if (promoted !== undefined) return promoted.pod;
  if (primary !== undefined || record === undefined) return undefined;
  return record.primaryPod === snapshot.resource.status?.currentPrimary ? undefined : record.primaryPod;
};

const describeRecord = (record: DataSetRecord | undefined): Partial<PlannedStatus> => ({
  ...presentField('primaryTerm', record?.primaryTerm),
  ...presentField('primaryVersion', record?.primaryVersion),
  ...presentField('primaryEngine', record?.primaryEngine),
});

/** As it will be when this plan is done: a term that the status forgot could be given a second time. */
const recordAfter = (actions: readonly Action[]): DataSetRecord | undefined =>
  actions.findLast((action) => action.kind === 'WriteRecord')?.record;

const choosePhase = (input: StatusInput, health: Health): Phase => {
  if (isAsked(input, 'ActionRequired')) return 'ActionRequired';
  if (input.view.snapshot.resource.metadata.deletionTimestamp !== undefined) return 'Deleting';
  if (isAsked(input, 'SpecRejected')) return 'SpecRejected';
  return chooseRestingPhase(input) ?? chooseMovingPhase(input, health);
};

/** What the spec put to rest. */
const chooseRestingPhase = (input: StatusInput): Phase | undefined => {
  if (input.view.wanted.suspended) return 'Suspended';
  return isAsked(input, 'Hibernated') ? 'Hibernated' : undefined;
};

const chooseMovingPhase = (input: StatusInput, health: Health): Phase => {
  const isChanging = isAwaited(input.rollout) || input.view.shapeNotes.length > 0;
  const settled = health.defects.length === 0 && input.actions.every(isHousekeeping) && !isChanging;
  return settled ? 'Ready' : chooseUnsettledPhase(input.view, health, isChanging || health.defects.length === 0);
};

/** Clears a Sentinel's memory in calm, or keeps passwords: nothing of the data set changes, so it stays Ready. */
const isHousekeeping = ({ kind }: Action): boolean => HOUSEKEEPING.has(kind);
const HOUSEKEEPING: ReadonlySet<Action['kind']> = new Set<Action['kind']>([
  'ResetSentinel',
  'PublishConnection',
  'WriteCredentials',
  'SetUsers',
  'SetReplicationLogin',
  'SetSentinelLogin',
]);

const isAsked = ({ findings }: StatusInput, type: Finding['type']): boolean =>
  findings.some((finding) => finding.type === type && finding.status === 'True');

const NEW_PHASES: readonly Phase[] = ['Pending', 'Creating'];

/** Until it was Ready once it is being created; afterwards a new generation is an update, and all else a defect. */
const chooseUnsettledPhase = (view: ClusterView, health: Health, isChanging: boolean): Phase => {
  const { phase = 'Pending', observedGeneration = view.generation } = view.snapshot.resource.status ?? {};
  if (NEW_PHASES.includes(phase)) return view.dataPods.length === 0 ? 'Pending' : 'Creating';
  if (health.primary === undefined) return 'Degraded';
  const updating = isChanging || observedGeneration < view.generation || phase === 'Updating';
  return updating ? 'Updating' : 'Degraded';
};

const describeDataPod = (pod: DataPod, primary: AnsweringPod | undefined): PodStatus => {
  const base = describePod(pod, roleOf(pod, primary));
  if (!answers(pod) || pod.facts.role === 'master') return base;
  return { ...base, link: pod.facts.linkUp === true ? 'up' : 'down' };
};

const roleOf = (pod: DataPod, primary: AnsweringPod | undefined): PodRole => {
  if (pod.name === primary?.name) return 'primary';
  if (!answers(pod) || pod.facts.role === 'master') return 'unknown';
  return isWaiting(pod) ? 'waiting' : 'replica';
};

const describePod = (pod: Pick<DataPod, 'name' | 'ready' | 'node' | 'ip'>, role: PodRole): PodStatus => ({
  name: pod.name,
  role,
  ready: pod.ready,
  ...presentField('node', pod.node),
  ...presentField('ip', pod.ip),
});

const buildEndpoints = (view: ClusterView, primary: AnsweringPod | undefined): Endpoints => {
  const { names, key, spec } = view;
  const service = (name: string, port: number): string => `${name}.${key.namespace}.svc:${port}`;
  const last = view.snapshot.resource.status?.endpoints?.primaryAddress;
  const address = primary?.ip === undefined ? last : `${primary.ip}:${REDIS_PORT}`;
  return {
    primary: service(names.primaryService, REDIS_PORT),
    ...(spec.mode === 'Standalone' ? {} : { replicas: service(names.replicasService, REDIS_PORT) }),
    ...(spec.mode === 'Sentinel'
      ? { sentinel: service(names.sentinelService, SENTINEL_PORT), masterName: names.masterName }
      : {}),
    connectionSecret: names.connectionSecret,
    ...presentField('primaryAddress', address),
  };
};
