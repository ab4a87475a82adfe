/**
 * A record that was deleted and is taken back from the status is hearsay about who was primary: the status is written at
 * the end of a pass, and an agent that was killed in one has told the record more than the status. So what the servers show
 * goes before it: a pod with data that followed a primary at another address, which is later than the named one as far as
 * anybody can tell, since a restart of the append-only servers has taken their histories. Invariant: hearsay promotes a pod
 * only when every data pod answers (or the spec takes the loss of those that do not come back) and none of them has followed
 * another since. Without this an old primary that came back with its data is promoted, and what its successor has taken is
 * lost.
 */
import { REDIS_PORT, WAITING_PRIMARY_HOST } from '#domain';
import { answers } from './cluster-view.ts';
import type { AnsweringPod, ClusterView } from './cluster-view.ts';
import { isPastOf } from './lineage.ts';

export const isHearsay = ({ snapshot, record }: ClusterView): boolean =>
  record !== undefined && snapshot.record === undefined;

/** Pods with data that followed another primary than `named`, or than the one that was confirmed last. */
export const findDissenters = (view: ClusterView, named: AnsweringPod): readonly AnsweringPod[] => {
  if (!isHearsay(view)) return [];
  const { endpoints } = view.snapshot.resource.status ?? {};
  const expected = [addressOf(WAITING_PRIMARY_HOST), addressOf(named.ip), endpoints?.primaryAddress];
  return view.dataPods
    .filter(answers)
    .filter(({ facts }) => facts.role === 'slave' && facts.keys > 0 && !expected.includes(addressOf(facts.masterHost)))
    .filter((pod) => pod.name === named.name || !isPastOf(pod.facts, named.facts));
};

const addressOf = (host: string | undefined): string => `${host ?? ''}:${REDIS_PORT}`;
