/**
 * Pods read their settings anew when something waits for it: the end or the beginning of persistence, or a fence, which a
 * container that crashes must find in its file. A kubelet brings ConfigMap volumes up to date within two minutes by
 * itself, and at once when the pod changes.
 */
import { ANNOTATION } from '#domain';
import type { Action } from '#domain';
import type { DataPod } from '../cluster-view.ts';
import { findChild } from '../find-child.ts';
import { startsPersistence } from '../shape/step-persistence.ts';
import type { Rule } from '../rule.ts';

export const refreshPods: Rule = {
  name: 'refresh-pods',
  decide: ({ view }) => {
    if (!(view.spec.dropsAof === true || view.wanted.fenced || startsPersistence(view))) return undefined;
    const settings = findChild(view.snapshot, 'ConfigMap', view.names.config)?.metadata.annotations?.[
      ANNOTATION.rendered
    ];
    if (settings === undefined) return undefined;
    const actions = view.dataPods.filter((pod) => isBehind(pod, settings)).map((pod) => refresh(pod, settings));
    const [first] = actions;
    return first && { reason: first.reason, message: first.message, actions };
  },
};

const isBehind = (pod: DataPod, settings: string): boolean =>
  !pod.terminating && pod.ip !== undefined && pod.annotations[ANNOTATION.settings] !== settings;

const refresh = (pod: DataPod, settings: string): Action => ({
  kind: 'RefreshPod',
  pod: pod.name,
  podUid: pod.uid,
  settings,
  reason: 'SettingsChanged',
  message: `${pod.name} is to read its settings now.`,
  disruptive: false,
});
