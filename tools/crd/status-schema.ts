/** The status of a RedisCluster: states only, no moving numbers. Fields are optional: nobody but the agent writes them. */
import { fields, list, text, whole, type Schema } from './schema-parts.ts';

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
    engineVersion: text('Engine version of the primary.'),
    shards: list(
      'Data pods by shard.',
      fields('One shard.', { name: text('Its name.'), pods: list('Its pods.', pod) }),
    ),
    sentinels: list('The Sentinels.', pod),
    endpoints,
    decisions: list('The newest decisions, bounded.', decision),
  });
