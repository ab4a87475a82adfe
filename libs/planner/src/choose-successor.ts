/**
 * Whom to go on from after every primary is gone: decided from the record, the keys and the histories of pods that
 * answer. The recorded primary, when it holds data and nobody is further along in its own history; else the furthest of
 * those with data, when they all share one history; else nobody. Never an empty pod while another holds data, never a
 * guess between two histories: a wrong choice here erases the right copy by replication.
 */
import type { AnsweringPod, ClusterView } from './cluster-view.ts';
import { isHandoverOpen } from './note-handover.ts';
import { aheadOf, furthestOfOneHistory } from './lineage.ts';
import { findDissenters } from './question-hearsay.ts';

export type Successor =
  | { readonly kind: 'chosen'; readonly pod: AnsweringPod; readonly because: string }
  | { readonly kind: 'all-empty' }
  | { readonly kind: 'ambiguous'; readonly pods: readonly AnsweringPod[] };

export const chooseSuccessor = (view: ClusterView, candidates: readonly AnsweringPod[]): Successor => {
  const withData = candidates.filter((pod) => pod.facts.keys > 0);
  if (withData.length === 0) return { kind: 'all-empty' };
  const recorded = findTrusted(view, withData);
  if (recorded !== undefined) {
    const ahead = furthestOfOneHistory(aheadOf(recorded, withData));
    if (ahead === undefined) {
      return { kind: 'chosen', pod: recorded, because: 'it is the recorded primary and nobody is further along' };
    }
    return { kind: 'chosen', pod: ahead, because: `it is further along than ${recorded.name} in the same history` };
  }
  const furthest = furthestOfOneHistory(withData);
  if (furthest === undefined) return { kind: 'ambiguous', pods: withData };
  const because = withData.length === 1 ? 'it alone holds data' : 'it is the furthest along in their one history';
  return { kind: 'chosen', pod: furthest, because };
};

/** The recorded primary, unless somebody else may have been primary after it. */
const findTrusted = (view: ClusterView, withData: readonly AnsweringPod[]): AnsweringPod | undefined => {
  const recorded = withData.find((pod) => pod.name === view.record?.primaryPod);
  if (recorded === undefined || isHandoverOpen(view)) return undefined;
  return findDissenters(view, recorded).length === 0 ? recorded : undefined;
};
