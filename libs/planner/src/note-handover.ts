/**
 * What the record tells of a hand-over. Right after it, before the labels: the new primary, so that the record is never
 * behind what clients are told (seen in the simulation: the old one restarted with its data and was promoted again, while the new
 * one was out of sight). Without Sentinel also before it is begun: who takes over, and out of which history. Where there
 * are Sentinels they remember it. Without that note an agent that is killed in the middle leaves a new primary that
 * nobody has recorded, and once the old one has ended, which a deleted pod does within seconds, nothing tells it from a
 * pod that was promoted by mistake: a person would be asked. Invariant: believed only while the recorded primary is none
 * any more, for the only master there is, and only if it was promoted out of the noted history: the server itself does
 * that in FAILOVER TO after it has been sent everything.
 */
import type { Action, DataSetRecord } from '#domain';
import type { AnsweringPod, ClusterView, DataPod } from './cluster-view.ts';
import { answers } from './cluster-view.ts';
import { writeRecord } from './make-action.ts';
import type { SwitchOverAction } from './plan-switchover.ts';
import { presentField } from './present-field.ts';
import { isMaster } from './replication-role.ts';

/** What goes before the hand-over in a plan, on top of what the plan records already. */
export const noteHandover = (
  view: ClusterView,
  { method, from, to, reason, message }: SwitchOverAction,
  planned: readonly Action[],
): readonly Action[] => {
  const old = view.dataPods.find((pod) => pod.name === from);
  if (method !== 'COMMAND' || old === undefined || !answers(old)) return [];
  const record = lastRecord(planned) ?? view.record;
  const handover = { to, history: old.facts.replicationId };
  return [writeRecord({ ...view, record }, { handover }, reason, message)];
};

/** What comes after it: what is not known before, such as its new history, the next pass adds. */
export const recordHandover = (
  view: ClusterView,
  { from, to }: SwitchOverAction,
  planned: readonly Action[],
): readonly Action[] => {
  const next = view.dataPods.find((pod) => pod.name === to);
  const record = lastRecord(planned) ?? view.record;
  const change = {
    primaryTerm: (record?.primaryTerm ?? 0) + 1,
    primaryPod: to,
    ...presentField('primaryNode', next?.node),
    ...presentField('primaryHost', next?.ip),
    handover: undefined,
  };
  return [writeRecord({ ...view, record }, change, 'PrimaryMoved', `${to} is primary now; before it was ${from}.`)];
};

const lastRecord = (planned: readonly Action[]): DataSetRecord | undefined =>
  planned.flatMap((action) => (action.kind === 'WriteRecord' ? [action.record] : [])).at(-1);

/**
 * It was begun, and nothing tells yet that it came to nothing: of the recorded primary and the noted one either may have the
 * later state. One that is still in the noted history was never promoted.
 */
export const isHandoverOpen = ({ record, dataPods }: ClusterView): boolean => {
  const handover = record?.handover;
  if (handover === undefined) return false;
  const noted = dataPods.find((pod) => pod.name === handover.to);
  return noted === undefined || !answers(noted) || noted.facts.replicationId !== handover.history;
};

/** The primary after a hand-over that was noted, while its old one is silent, gone, or back as something else. */
export const findHandedOver = (view: ClusterView, recorded: DataPod | undefined): AnsweringPod | undefined => {
  const handover = view.record?.handover;
  const [master, ...others] = view.dataPods.filter(isMaster);
  if (handover === undefined || master === undefined || others.length > 0 || master.name === recorded?.name) {
    return undefined;
  }
  const isTheOne = master.name === handover.to && master.facts.secondReplicationId === handover.history;
  return isTheOne ? master : undefined;
};
