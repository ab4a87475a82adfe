/**
 * Where pods may run: spread over nodes and zones, rather than never (Preferred) or whatever it takes (Required: a second
 * pod of the kind on a node, or a zone that gets ahead of the others, stays Pending). What the spec leaves out is not
 * rendered, so a template of an older release keeps its bytes. Sentinels go beside data pods where they can be both apart
 * and beside: when a network is cut in two, the side with most Sentinels chooses the primary, and where it is the one with
 * fewer data pods the other side goes on taking writes that are lost (seen: two nodes, 15 s).
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

/** `beside`: labels of the pods to be near, rather than not. */
export const renderScheduling = (
  scheduling: SchedulingSpec,
  matchLabels: Record<string, string>,
  beside?: Record<string, string>,
): Scheduling => {
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
    affinity: {
      ...keepApart({ topologyKey: NODE_KEY, labelSelector: { matchLabels } }, spread.node === 'Required'),
      ...(beside === undefined ? {} : keepBeside({ matchLabels: beside })),
    },
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

/** Half as strong as to be apart from each other, so that it decides only between places that are equal in that. */
const keepBeside = (labelSelector: NonNullable<V1PodAffinityTerm['labelSelector']>): V1Affinity => ({
  podAffinity: {
    preferredDuringSchedulingIgnoredDuringExecution: [ZONE_KEY, NODE_KEY].map((topologyKey) => ({
      weight: 25,
      podAffinityTerm: { topologyKey, labelSelector },
    })),
  },
});
