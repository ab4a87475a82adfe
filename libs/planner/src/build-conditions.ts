/**
 * The conditions of one pass, from health and findings; every type is always present, so that nobody has to guess what
 * an absent one means. kstatus reads Ready, Reconciling and Stalled; the rest is for people and alerts.
 */
import { CONDITION_TYPES, ownValue } from '#domain';
import type { Action, ConditionType, Phase, PlannedStatus } from '#domain';
import { ANSWERS_TOO_LARGE } from './assess-health.ts';
import type { Health } from './assess-health.ts';
import { answers } from './cluster-view.ts';
import type { ClusterView } from './cluster-view.ts';
import { tellStuckPods } from './explain-stuck-pod.ts';
import { isLongNotReady } from './is-long-not-ready.ts';
import { findGoners, findUnsettledUsers, readCredentials, readServers } from './read-credentials.ts';
import type { ServerSeen } from './read-credentials.ts';
import { whyRefusesForDisk } from './refuses-for-disk.ts';
import type { DiskRefusal } from './refuses-for-disk.ts';
import type { Finding } from './rule.ts';
import { isFenced } from './rules/hold-fence.ts';

type PlannedCondition = PlannedStatus['conditions'][number];
type Draft = Omit<Finding, 'type'>;

export interface ConditionInput {
  readonly view: ClusterView;
  readonly health: Health;
  readonly findings: readonly Finding[];
  readonly phase: Phase;
  readonly actions: readonly Action[];
}

export const buildConditions = (input: ConditionInput): readonly PlannedCondition[] =>
  CONDITION_TYPES.map((type) => {
    const found = input.findings.find((finding) => finding.type === type);
    const { status, reason, message } = found ?? DRAFTS[type](input);
    const more = tellsStuckPods(type, input.phase) ? tellStuckPods(input.health.stuck, message) : '';
    return { type, status, reason, message: message + more, observedGeneration: input.view.generation };
  });

/** While it gets there, what keeps it is told beside what is awaited; in the other phases the finding says it all. */
const tellsStuckPods = (type: ConditionType, phase: Phase): boolean =>
  (type === 'Ready' || type === 'Reconciling') && UNDER_WAY.has(phase);
const UNDER_WAY = new Set<Phase>(['Pending', 'Creating', 'Updating', 'Degraded']);

const no = (reason: string, message: string): Draft => ({ status: 'False', reason, message });
const yes = (reason: string, message: string): Draft => ({ status: 'True', reason, message });

const draftReady = ({ health, phase, findings, view }: ConditionInput): Draft => {
  if (phase === 'Ready') return yes('Ready', `${view.key.name} is as its spec says.`);
  if (phase === 'Hibernated') return yes('Hibernated', `${view.key.name} sleeps, as its spec says.`);
  if (phase === 'Suspended' && health.defects.length === 0) return yes('Suspended', `${view.key.name} works.`);
  const cause = findings.find((finding) => BLOCKING.has(finding.type) && finding.status === 'True');
  const defect = cause ?? health.defects[0];
  return no(defect?.reason ?? phase, defect?.message ?? `The phase is ${phase}.`);
};
const BLOCKING = new Set<ConditionType>(['SpecRejected', 'ActionRequired', 'Reconciling']);

const QUIET = new Set<Phase>(['Ready', 'ActionRequired', 'SpecRejected', 'Suspended', 'Hibernated']);

const draftReconciling = ({ health, phase, actions }: ConditionInput): Draft => {
  const cause = actions[0] ?? health.defects[0];
  if (QUIET.has(phase) || cause === undefined) {
    return no('Settled', 'Nothing is being changed.');
  }
  return yes(cause.reason, cause.message);
};

const WITHOUT_DEFECTS = new Set<Phase>(['Creating', 'Pending', 'Deleting', 'Hibernated']);

const draftDegraded = ({ health, phase }: ConditionInput): Draft => {
  const [defect] = health.defects;
  if (defect === undefined || WITHOUT_DEFECTS.has(phase)) {
    return no('NotDegraded', 'Every part works.');
  }
  return yes(defect.reason, health.defects.map(({ message }) => message).join(' '));
};

const draftReplication = ({ health, view }: ConditionInput): Draft => {
  if (view.spec.size === 1) return yes('NoReplicas', 'There are no replicas to link.');
  const wanted = view.spec.size - 1;
  const message = `${health.linked.length} of ${wanted} replicas are linked to the primary.`;
  return health.linked.length >= wanted ? yes('AllLinked', message) : no('ReplicasNotLinked', message);
};

const draftAvailable = ({ health, view }: ConditionInput): Draft => {
  if (view.wanted.fenced && !health.takesWrites)
    return no('Fenced', 'No client write is taken (spec.fencing); reads are.');
  if (health.takesWrites) return yes('PrimaryServes', `${health.primary?.name ?? ''} takes writes.`);
  if (health.primary === undefined) return no('NoPrimary', 'There is no confirmed primary.');
  if (health.primary.facts.loading) return no('Loading', `${health.primary.name} is loading its data.`);
  const refusal = whyRefusesForDisk(health.primary);
  if (refusal !== undefined) {
    const { reason, because } = REFUSALS[refusal];
    return no(reason, `${health.primary.name} takes no writes (MISCONF): ${because}.`);
  }
  return no(
    'NoLinkedReplica',
    `${health.primary.name} takes no writes until a replica is linked (min-replicas-to-write).`,
  );
};

const REFUSALS: Readonly<Record<DiskRefusal, { readonly reason: string; readonly because: string }>> = {
  AppendFails: { reason: 'VolumeFull', because: 'it cannot write its file to its volume' },
  SnapshotFails: { reason: 'SnapshotFailed', because: 'its last snapshot failed; the log of the server says why' },
};

/** Where hold-fence was not asked: the agent only reports, and what was set before stays as it is. */
const draftFenced = ({ view }: ConditionInput): Draft => {
  const answering = view.dataPods.filter(answers);
  const open = answering.filter((pod) => !isFenced(pod)).map(({ name }) => name);
  if (answering.length > 0 && open.length === 0)
    return yes('Fenced', 'Every data pod that answers refuses client writes.');
  if (!view.wanted.fenced) return no('NotFenced', 'Writes are not fenced off.');
  const who = open.length === 0 ? 'No pod answers' : `${open.join(', ')} may take writes`;
  return no('FenceNotSet', `spec.fencing is not carried out while the agent only reports (spec.suspend): ${who}.`);
};

const draftNodes = ({ view }: ConditionInput): Draft => {
  const lost = [...view.dataPods, ...view.sentinelPods].filter((pod) => !pod.nodeReady);
  if (lost.length === 0) return no('NodesReachable', 'Every node with a pod of this object is Ready.');
  const list = lost.map((pod) => `${pod.name} on ${pod.node ?? 'unknown'}`).join(', ');
  return yes(
    'NodeNotReady',
    `${list}: the node is not Ready. The pod is not deleted by force; it may still run there.`,
  );
};

const draftCredentials = ({ view }: ConditionInput): Draft => {
  const { credentialsSecret } = view.names;
  if (!view.snapshot.credentialsPresent)
    return no('CredentialsMissing', `Secret ${credentialsSecret} is not there yet.`);
  const credentials = readCredentials(view);
  const servers = readServers(view);
  const unsettled = credentials && servers.find((server) => findUnsettledUsers(view, credentials, server).length > 0);
  if (unsettled !== undefined)
    return no('UsersDiffer', `Users of ${unsettled.pod} are not yet as the spec and Secret say.`);
  return explainGoners(view, servers) ?? explainRefusedRules(servers) ?? tellAsked(servers, credentialsSecret);
};

const explainGoners = (view: ClusterView, servers: readonly ServerSeen[]): Draft | undefined => {
  const open = servers.find((server) => findGoners(view, server).length > 0);
  if (open === undefined) return undefined;
  const names = findGoners(view, open).join(', ');
  return no('UsersDiffer', `${open.pod} still lets in ${names}, which spec.auth.users no longer names.`);
};

const explainRefusedRules = (servers: readonly ServerSeen[]): Draft | undefined => {
  const refused = servers.flatMap(({ users = {} }) =>
    Object.keys(users).filter((user) => ownValue(users, user)?.refused),
  );
  if (refused.length === 0) return undefined;
  const names = [...new Set(refused)].join(', ');
  return no(
    'UserRulesRefused',
    `The engine refuses the rules of ${names} in spec.auth.users: an unknown command, or a wrong word. The rest is applied.`,
  );
};

/** Of who was not asked nothing is claimed. */
const tellAsked = (servers: readonly ServerSeen[], secret: string): Draft => {
  const silent = servers.filter(({ users }) => users === undefined).map(({ pod }) => pod);
  if (silent.length === 0) return yes('InSync', `Passwords are in Secret ${secret}.`);
  return {
    status: 'Unknown',
    reason: 'ServersNotAsked',
    message: `Users of ${silent.join(', ')} could not be read; where they could, they are as the spec and Secret ${secret} say.`,
  };
};

const draftStalled = ({ findings, health, phase, view }: ConditionInput): Draft => {
  const cause = findings.find(({ type, status }) => STALLING.has(type) && status === 'True');
  if (cause !== undefined) return yes(cause.reason, cause.message);
  // In every phase: an image that is hostile from the start is never Degraded, since it was never Ready.
  const boundless = health.defects.find(({ reason }) => reason === ANSWERS_TOO_LARGE);
  if (boundless !== undefined) return yes(boundless.reason, boundless.message);
  const stuck = UNDER_WAY.has(phase) ? health.stuck.filter(({ restartsSoon }) => !restartsSoon) : [];
  if (stuck.length === 0 || !isLongNotReady(view)) return no('NotStalled', 'Nothing is stuck.');
  return yes('PodsCannotStart', tellStuckPods(stuck, '').trimStart());
};

const DRAFTS: Readonly<Record<ConditionType, (input: ConditionInput) => Draft>> = {
  Ready: draftReady,
  Reconciling: draftReconciling,
  Stalled: draftStalled,
  Available: draftAvailable,
  Degraded: draftDegraded,
  DataAtRisk: () => no('DataSafe', 'Nothing that was seen endangers data.'),
  ActionRequired: () => no('NothingToDo', 'Nothing is asked of a person.'),
  ReplicationHealthy: draftReplication,
  ConfigApplied: () => yes('Applied', 'Every directive is as the spec says.'),
  CredentialsInSync: draftCredentials,
  NodeUnreachable: draftNodes,
  SpecRejected: () => no('Accepted', 'The spec is accepted.'),
  RestartPending: () => no('NoRestartPending', 'No pod has to be restarted.'),
  Fenced: draftFenced,
  Hibernated: () => no('NotHibernated', 'The pods run.'),
};
const STALLING = new Set<ConditionType>(['ActionRequired', 'SpecRejected']);
