/**
 * Live directives are as the spec says, whoever changed them. Compared in Redis' own grammar, so that `100mb` and
 * `104857600` are the same; replicas first, the primary last. What only a restart can change is told, not forced: pods
 * are not restarted for it yet. A directive that the server does not know is told as rejected.
 */
import { RESTART_ONLY_CONFIG } from '#domain';
import type { Action } from '#domain';
import { redisDirectives } from '#manifests';
import { answers } from '../cluster-view.ts';
import type { AnsweringPod, ClusterView } from '../cluster-view.ts';
import { canonicalConfigValue } from '../canonical-config-value.ts';
import { findChild } from '../find-child.ts';
import type { Finding, Rule } from '../rule.ts';

export const correctConfig: Rule = {
  name: 'correct-config',
  decide: ({ view, primary }) => {
    if (!view.specUsable) return undefined;
    const pods = view.dataPods.filter(answers).filter((pod) => !pod.facts.loading && !pod.terminating);
    const ordered = [...pods.filter((pod) => pod !== primary), ...pods.filter((pod) => pod === primary)];
    const wanted = redisDirectives(view.spec);
    const actions = ordered.flatMap((pod) => setDiffering(pod, wanted));
    const finding = explainPending(view, ordered, wanted) ?? explainChanging(actions);
    if (finding === undefined) return undefined;
    return { reason: finding.reason, message: finding.message, actions, findings: [finding] };
  },
};

type Directives = Readonly<Record<string, string>>;

const differing = (pod: AnsweringPod, wanted: Directives): readonly string[] =>
  Object.keys(wanted).filter((name) => {
    const live = pod.facts.config[name];
    return live !== undefined && canonicalConfigValue(name, live) !== canonicalConfigValue(name, wanted[name] ?? '');
  });

const setDiffering = (pod: AnsweringPod, wanted: Directives): Action[] => {
  const names = differing(pod, wanted).filter((name) => !RESTART_ONLY_CONFIG.has(name));
  if (names.length === 0) return [];
  return [
    {
      kind: 'SetConfig',
      pod: pod.name,
      values: Object.fromEntries(names.map((name) => [name, wanted[name] ?? ''])),
      reason: 'ConfigDiffers',
      message: `Setting ${names.join(', ')} on ${pod.name}.`,
      disruptive: false,
    },
  ];
};

const explainChanging = ([first]: readonly Action[]): Finding | undefined =>
  first && { type: 'ConfigApplied', status: 'False', reason: first.reason, message: first.message };

const explainPending = (view: ClusterView, pods: readonly AnsweringPod[], wanted: Directives): Finding | undefined => {
  const unknown = Object.keys(view.spec.config).filter((name) =>
    pods.some((pod) => Object.keys(pod.facts.config).length > 0 && pod.facts.config[name] === undefined),
  );
  if (unknown.length > 0)
    return tell('DirectiveRejected', `This engine does not know ${unknown.join(', ')}; remove it.`);
  const restart = pods.flatMap((pod) => differing(pod, wanted).filter((name) => RESTART_ONLY_CONFIG.has(name)));
  if (restart.length > 0) {
    const names = [...new Set(restart)].join(', ');
    return tell('RestartPending', `${names} take effect at the next restart of the pods.`);
  }
  const outdated = findOutdatedPods(view);
  if (outdated.length === 0) return undefined;
  return tell('RestartPending', `${outdated.join(', ')} run an older pod template until their next restart.`);
};

const tell = (reason: string, message: string): Finding => ({
  type: 'ConfigApplied',
  status: 'False',
  reason,
  message,
});

/** Pods whose revision is not the StatefulSet's newest. */
const findOutdatedPods = ({ snapshot, names, dataPods }: ClusterView): readonly string[] => {
  const status = findChild(snapshot, 'StatefulSet', names.redis)?.['status'];
  const newest = (status as { updateRevision?: string } | undefined)?.updateRevision;
  if (newest === undefined || newest === '') return [];
  return dataPods
    .filter((pod) => pod.controllerRevision !== undefined && pod.controllerRevision !== newest)
    .map((pod) => pod.name);
};
