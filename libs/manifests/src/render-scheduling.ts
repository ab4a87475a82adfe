/**
 * Where pods may run: spread over nodes and zones, rather than never (Preferred) or whatever it takes (Required: a second
 * pod of the kind on a node, or a zone that gets ahead of the others, stays Pending). What the spec leaves out is not
 * rendered, so a template of an older release keeps its bytes.
 */
import type { V1Affinity, V1PodAffinityTerm, V1PodSpec, V1Toleration } from '@kubernetes/client-node';
import type { SchedulingSpec } from '#domain';

/** A pod on a node that is gone is given up after 30 s instead of the default 300 s. */
const NODE_LOSS_TOLERATION_S = 30;
const NODE_LOSS = ['node.kubernetes.io/not-ready', 'node.kubernetes.io/unreachable'];
const NODE_KEY = 'kubernetes.io/hostname';
const ZONE_KEY = 'topology.kubernetes.io/zone';

type Scheduling = Pick<
  V1PodSpec,
  'tolerations' | 'topologySpreadConstraints' | 'affinity' | 'nodeSelector' | 'priorityClassName'
>;

export const renderScheduling = (scheduling: SchedulingSpec, matchLabels: Record<string, string>): Scheduling => {
  const { spread = {}, nodeSelector, priorityClassName } = scheduling;
  const constraint = (topologyKey: string, required: boolean) => ({
    maxSkew: 1,
    topologyKey,
    whenUnsatisfiable: required ? 'DoNotSchedule' : 'ScheduleAnyway',
    labelSelector: { matchLabels },
  });
  return {
    tolerations: renderTolerations(scheduling),
    topologySpreadConstraints: [constraint(NODE_KEY, false), constraint(ZONE_KEY, spread.zone === 'Required')],
    affinity: keepApart({ topologyKey: NODE_KEY, labelSelector: { matchLabels } }, spread.node === 'Required'),
    ...(nodeSelector === undefined ? {} : { nodeSelector: { ...nodeSelector } }),
    ...(priorityClassName === undefined ? {} : { priorityClassName }),
  };
};

/** One of the user's for the loss of nodes takes the place of ours. */
const renderTolerations = ({ tolerations = [] }: SchedulingSpec): V1Toleration[] => [
  ...NODE_LOSS.filter((key) => !tolerations.some((own) => own.key === key && own.effect === 'NoExecute')).map(
    (key) => ({ key, operator: 'Exists', effect: 'NoExecute', tolerationSeconds: NODE_LOSS_TOLERATION_S }),
  ),
  ...tolerations.map((own) => ({ ...own })),
];

const keepApart = (podAffinityTerm: V1PodAffinityTerm, required: boolean): V1Affinity => ({
  podAntiAffinity: required
    ? { requiredDuringSchedulingIgnoredDuringExecution: [podAffinityTerm] }
    : { preferredDuringSchedulingIgnoredDuringExecution: [{ weight: 100, podAffinityTerm }] },
});
