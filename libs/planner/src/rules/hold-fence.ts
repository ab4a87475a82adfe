/**
 * spec.fencing: every data pod refuses client writes. It is min-replicas-to-write above any number of replicas (shape/
 * step-min-replicas.ts): rendered, so a restart keeps it, set live here on every pod, so a failover keeps it, and no
 * hindrance to replication, reads or the agent (measured on Redis 7.0 and 8.0, Valkey 8.1 and 9.1). A container
 * that crashes starts by its settings, which are refreshed at once (refresh-pods.ts); what it opens before that is closed
 * in the pass that its exit wakes.
 * The primary is first: it is the one that takes writes. What would make another pod primary is dropped from every plan
 * while the fence stands (plan-redis-cluster.ts).
 */
import { FENCING_REASON } from '#domain';
import type { Action } from '#domain';
import { answers } from '../cluster-view.ts';
import type { AnsweringPod, ClusterView } from '../cluster-view.ts';
import { FENCED_MIN_REPLICAS } from '../shape/step-min-replicas.ts';
import type { Finding, Rule } from '../rule.ts';

const DIRECTIVE = 'min-replicas-to-write';

export const holdFence: Rule = {
  name: 'hold-fence',
  decide: ({ view, primary }) => {
    if (!view.wanted.fenced) return undefined;
    const open = view.dataPods.filter(answers).filter((pod) => !pod.facts.loading && !isFenced(pod));
    const ordered = [...open.filter((pod) => pod === primary), ...open.filter((pod) => pod !== primary)];
    const finding = tell(view, open);
    return { reason: finding.reason, message: finding.message, findings: [finding], actions: ordered.map(fence) };
  },
};

export const isFenced = ({ facts }: AnsweringPod): boolean =>
  Number(facts.config[DIRECTIVE] ?? 0) >= FENCED_MIN_REPLICAS;

const fence = (pod: AnsweringPod): Action => ({
  kind: 'SetConfig',
  pod: pod.name,
  values: { [DIRECTIVE]: String(FENCED_MIN_REPLICAS) },
  reason: FENCING_REASON,
  message: `${pod.name} refuses client writes from now on.`,
  disruptive: false,
});

const tell = (view: ClusterView, open: readonly AnsweringPod[]): Finding => {
  const type = 'Fenced';
  const silent = view.dataPods.filter((pod) => !answers(pod));
  if (open.length > 0) {
    const message = `${open.map(({ name }) => name).join(', ')} still take writes; the fence is being set.`;
    return { type, status: 'False', reason: FENCING_REASON, message };
  }
  if (silent.length > 0 || view.dataPods.length === 0) {
    const list = silent.map(({ name }) => name).join(', ');
    const message = `${list === '' ? 'No pod' : list} cannot be asked; every pod that answers refuses writes.`;
    return { type, status: 'Unknown', reason: 'PodsNotReachable', message };
  }
  const message = 'Every data pod refuses client writes, and nothing is promoted, until spec.fencing is lifted.';
  return { type, status: 'True', reason: 'Fenced', message };
};
