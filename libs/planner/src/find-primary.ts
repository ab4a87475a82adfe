/**
 * Who is primary beyond doubt. Order of authority (04, Never 6): the recorded primary → the Sentinel majority → the one
 * that the recorded primary itself follows, or was being handed over to (note-handover.ts). Never the ordinal, the pod's phase, or one Sentinel's word. In Sentinel mode
 * the majority decides failovers, so a majority that names a pod which itself says "master" stands above the record,
 * which follows it. Nobody confirmed means: labels, record and endpoints stay as they are.
 */
import { answers } from './cluster-view.ts';
import type { AnsweringPod, ClusterView, DataPod } from './cluster-view.ts';
import { findDeposed } from './find-deposed.ts';
import { judgeSentinels } from './judge-sentinels.ts';
import { findHandedOver } from './note-handover.ts';
import { followsAddressOf, isMaster, isWaiting } from './replication-role.ts';

export const findPrimary = (view: ClusterView): AnsweringPod | undefined => {
  const recorded = view.dataPods.find((pod) => pod.name === view.record?.primaryPod);
  if (view.spec.mode === 'Sentinel') return findSentinelPrimary(view, recorded);
  if (recorded !== undefined && isMaster(recorded)) return recorded;
  return findFollowedPrimary(view, recorded) ?? findHandedOver(view, recorded);
};

const findSentinelPrimary = (view: ClusterView, recorded: DataPod | undefined): AnsweringPod | undefined => {
  const { agreedHost, choiceOpen } = judgeSentinels(view);
  if (choiceOpen) return undefined;
  const agreed = view.dataPods.find((pod) => pod.ip !== undefined && pod.ip === agreedHost);
  if (agreed !== undefined && isMaster(agreed)) return agreed;
  // The majority names a pod that does not answer: it may well be the primary, and only our view of it is broken.
  if (agreed !== undefined && !answers(agreed)) return undefined;
  if (recorded !== undefined && isMaster(recorded) && noOtherMaster(view, recorded)) return recorded;
  return agreed === undefined ? findFollowedPrimary(view, recorded) : undefined;
};

/**
 * The one master there is, when every other pod that answers follows it or waits. Without a record that is enough only
 * when it has somebody or something to show for it: an empty, unfollowed master is nobody's primary yet.
 */
const findFollowedPrimary = (view: ClusterView, recorded: DataPod | undefined): AnsweringPod | undefined => {
  const [master, ...others] = view.dataPods.filter(isMaster);
  if (master === undefined || others.length > 0) return undefined;
  if (view.record !== undefined) {
    // A recorded primary that restarted empty may have been led astray by the guard: an older master is still no primary.
    const isFollowed = recorded !== undefined && followsAddressOf(recorded, master);
    return isFollowed && !findDeposed(view).includes(master) ? master : undefined;
  }
  return view.spec.mode === 'Standalone' || isVouchedFor(view, master) ? master : undefined;
};

const isVouchedFor = (view: ClusterView, master: AnsweringPod): boolean => {
  const rest = view.dataPods.filter((pod) => pod.name !== master.name);
  const explained = rest.every((pod) => answers(pod) && (followsAddressOf(pod, master) || isWaiting(pod)));
  return explained && (master.facts.keys > 0 || master.facts.connectedReplicas > 0);
};

const noOtherMaster = (view: ClusterView, one: DataPod): boolean =>
  !view.dataPods.some((pod) => pod.name !== one.name && isMaster(pod));
