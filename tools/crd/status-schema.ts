/** The status of a RedisCluster: states only, no moving numbers. Fields are optional: nobody but the agent writes them. */
import { choice, fields, flag, list, moment, text, whole, type Schema } from './schema-parts.ts';

const pod = fields(
  'One pod.',
  {
    name: text('Name of the pod.'),
    role: text('primary, replica, waiting, sentinel or unknown.'),
    ready: { type: 'boolean', description: "Kubernetes' readiness." },
    node: text('Node it runs on.'),
    ip: text('Its address.'),
    link: text("up or down: a replica's link to its primary."),
  },
  { required: ['name', 'role', 'ready'] },
);

const condition = fields(
  'One condition, as kstatus reads them.',
  {
    type: text('Name of the condition.'),
    status: text('True, False or Unknown.', { enum: ['True', 'False', 'Unknown'] }),
    reason: text('Stable code.'),
    message: text('A sentence for people.'),
    observedGeneration: whole('Generation of the spec that it speaks of.'),
    lastTransitionTime: text('When the status last changed.', { format: 'date-time' }),
  },
  { required: ['type', 'status'] },
);

const endpoints = fields('How clients connect.', {
  primary: text('host:port of the primary Service.'),
  replicas: text('host:port of the replicas Service.'),
  sentinel: text('host:port of the Sentinels.'),
  masterName: text("Sentinel's name of the master."),
  connectionSecret: text('Secret with everything a client needs.'),
  primaryAddress: text('IP:port of the confirmed primary.'),
});

const decision = fields('One entry of the flight recorder.', {
  time: text('When.', { format: 'date-time' }),
  observation: text('What was seen.'),
  action: text('What was done.'),
  reason: text('Why.'),
});

const rollout = fields('Why a rolling change is where it is.', {
  updated: whole('Pods that run the wanted revision.'),
  total: whole('All data pods and Sentinels.'),
  reason: text('Stable code of what is waited for.'),
  waitingFor: text('What is waited for, with the object.'),
  since: moment('Since when.'),
  turn: text('GivenBack: it stands still at its first pod, and others are rolled in its place.'),
});

const config = fields("What became of the user's directives.", {
  applied: whole('How many are in force.'),
  pendingRestart: list('Names that take effect at the next restart.', text('Name of a directive.')),
  rejected: list(
    'Names that the engine refused.',
    fields(
      'One of them.',
      {
        key: text('Name of the directive.'),
        value: text('The value that was refused.'),
        reason: text('Why.'),
        kept: text('What the engine has instead, where it changed the value silently.'),
        engine: text('Engine and version that said so.'),
      },
      { required: ['key', 'reason'] },
    ),
  ),
});

const credentials = fields('Where the passwords stand.', {
  version: whole('Counts rotations, from 1.'),
  step: text('Settled, or the step of a rotation: Adding, Switching, Publishing, Waiting, Removing.'),
  publishedAt: moment('When the new password was published, while both are valid.'),
  oldInUse: flag('True while connections with the old password are seen.'),
});

const setAside = fields('What was kept of data that lost.', {
  pod: text('Pod whose volume holds it.'),
  file: text('File or folder on that volume.'),
  at: moment('When.'),
  reason: text('Why.'),
  bytes: whole('What it takes there, where that is known.'),
});

export const statusSchema = (): Schema =>
  fields('What is. Written by the agent only.', {
    observedGeneration: whole('Generation of the spec that this status speaks of.'),
    observedHubGeneration: whole("The hub's generation of that spec."),
    phase: text('One word for people.'),
    conditions: list('Conditions by type.', condition, {
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['type'],
    }),
    dataSetId: text('Id of what this object holds; fixed at the first reconcile.'),
    renderVersion: whole('Version of the rules its objects were rendered by.'),
    mode: text('Mode as it runs.'),
    ready: text('Ready pods of all, for instance 3/3.'),
    size: whole('Data pods wanted.'),
    readyPods: whole('Data pods that are ready.'),
    currentPrimary: text('Pod that is the confirmed primary.'),
    targetPrimary: text('Pod that is to become primary.'),
    primaryTerm: whole('Raised with every new primary, by whomever it was made: the agent or the Sentinels.'),
    primaryVersion: text('Newest engine version that a primary of this data set has run.', { maxLength: 32 }),
    primaryEngine: choice('Engine that primaryVersion speaks of: Redis or Valkey.', ['Redis', 'Valkey']),
    engineVersion: text('Engine version of the primary.'),
    shards: list(
      'Data pods by shard.',
      fields('One shard.', { name: text('Its name.'), pods: list('Its pods.', pod) }),
    ),
    sentinels: list('The Sentinels.', pod),
    endpoints,
    decisions: list('The newest decisions, bounded.', decision),
    rollout,
    config,
    credentials,
    setAside: list(
      'Data that were set aside: after a split brain, or by a pod that came back to an old volume.',
      setAside,
    ),
    capabilities: list('What the engine and the agent can do for this data set.', text('One capability.')),
  });
