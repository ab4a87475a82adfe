/**
 * A primary that has too few replicas takes no writes (min-replicas-to-write), and a replica whose process was killed a
 * few times in a row is kept waiting by its kubelet: 20, 40, 80 s, up to five minutes (seen: 45 s without a write after
 * three kills of replicas and the loss of the primary's pod). A new pod of the same name starts at once, on the same
 * volume. Invariant: only while the confirmed primary takes no writes for want of it, one at a time, and none younger
 * than two minutes, so that a pod that really cannot run is not made anew for ever.
 */
import { isLinkedTo, replicasToWrite } from '../assess-health.ts';
import type { DataPod } from '../cluster-view.ts';
import type { Rule } from '../rule.ts';

const YOUNG_MS = 120_000;
/** The first wait of 10 s is no longer than a new pod takes. */
const LONG_BACK_OFF = /^CrashLoopBackOff\b(?!.*back-off 10s)/;

export const endBackOff: Rule = {
  name: 'end-back-off',
  decide: ({ view, primary, planned }) => {
    if (primary === undefined || planned.some((action) => action.disruptive)) return undefined;
    const linked = view.dataPods.filter((pod) => isLinkedTo(pod, primary)).length;
    if (linked >= replicasToWrite(view, primary)) return undefined;
    const isOld = ({ createdAtMs = view.nowMs }: DataPod): boolean => view.nowMs - createdAtMs >= YOUNG_MS;
    const pod = view.dataPods.find((one) => one.name !== primary.name && waits(one) && isOld(one));
    if (pod === undefined) return undefined;
    const reason = 'EndingBackOff';
    const message =
      `${primary.name} takes no writes with ${linked} linked replicas, and Kubernetes lets ${pod.name} wait before its ` +
      'next start; the pod is made anew, which starts at once.';
    const action = { kind: 'DeletePod', pod: pod.name, podUid: pod.uid, force: false } as const;
    return { reason, message, actions: [{ ...action, reason, message, disruptive: true }] };
  },
};

const waits = ({ terminating, waitingReason = '' }: DataPod): boolean =>
  !terminating && LONG_BACK_OFF.test(waitingReason);
