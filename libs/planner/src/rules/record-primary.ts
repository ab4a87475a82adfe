/**
 * The record follows the confirmed primary: another pod raises the term, a newer version is remembered so that nothing
 * older may follow, and a record deleted by hand is written again. Where it runs is kept too, for the proof of its death,
 * and the history it was promoted out of, by which a deposed primary is known when it comes back (find-deposed.ts).
 * A hand-over that was noted is over once somebody is confirmed.
 * Invariant: the term never goes down. Labels and Sentinels are planned after this rule, so the record is never behind
 * what clients are told.
 */
import { compareEngineVersions } from '#domain';
import type { DataSetRecord } from '#domain';
import type { AnsweringPod, ClusterView } from '../cluster-view.ts';
import { formerHistory } from '../lineage.ts';
import { writeRecord } from '../make-action.ts';
import { presentField } from '../present-field.ts';
import type { Rule, RuleOutcome } from '../rule.ts';

export const recordPrimary: Rule = {
  name: 'record-primary',
  decide: ({ view, primary }) => {
    if (primary === undefined) return undefined;
    const { record } = view;
    const ran = {
      ...newestRun(primary, record),
      ...presentField('primaryNode', primary.node),
      ...presentField('primaryHost', primary.ip),
      ...presentField('histories', addHistories(record?.histories, primary)),
    };
    if (record === undefined) {
      const change = { primaryTerm: 1, primaryPod: primary.name, ...ran };
      return write(view, change, 'RecordingPrimary', `${primary.name} is the primary of this data set.`);
    }
    if (record.primaryPod !== primary.name) {
      const change = { primaryTerm: record.primaryTerm + 1, primaryPod: primary.name, ...ran, handover: undefined };
      const before = record.primaryPod ?? 'nobody';
      return write(view, change, 'PrimaryMoved', `${primary.name} is primary now; before it was ${before}.`);
    }
    if (view.snapshot.record === undefined) {
      return write(view, ran, 'RecordMissing', 'Writing the lost record of the data set again.');
    }
    return followPrimary(view, primary, { record, ran });
  },
};

/** The same primary as recorded, which may run another version now or elsewhere. */
const followPrimary = (
  view: ClusterView,
  primary: AnsweringPod,
  { record, ran }: { readonly record: DataSetRecord; readonly ran: Partial<DataSetRecord> },
): RuleOutcome | undefined => {
  if (record.primaryVersion !== ran.primaryVersion || record.primaryEngine !== ran.primaryEngine) {
    return write(view, ran, 'PrimaryVersion', `The primary runs ${primary.facts.engine} ${primary.facts.version}.`);
  }
  if (record.primaryNode !== primary.node || record.primaryHost !== primary.ip) {
    return write(view, ran, 'PrimaryPlace', `${primary.name} is at ${primary.ip ?? 'no address'} now.`);
  }
  if (record.handover !== undefined) {
    const message = `${primary.name} has stayed primary; what was begun to ${record.handover.to} is over.`;
    return write(view, { ...ran, handover: undefined }, 'HandOverEnded', message);
  }
  if (record.histories?.join() === ran.histories?.join()) return undefined;
  return write(view, ran, 'PrimaryHistory', `${primary.name} writes a history of its own now.`);
};

/** A deposed primary is at most a few promotions behind when it comes back. */
const MAX_HISTORIES = 8;

/** undefined until somebody was promoted: before that there is no older history. */
const addHistories = (known: readonly string[] | undefined, { facts }: AnsweringPod): readonly string[] | undefined => {
  const former = formerHistory(facts);
  if (known === undefined && former === undefined) return undefined;
  const ids = [former, facts.replicationId].filter((id) => id !== undefined);
  return [...new Set([...(known ?? []), ...ids])].slice(-MAX_HISTORIES);
};

/**
 * The higher of what a primary has run before and what this one runs. Versions of two engines do not compare: with the
 * other engine, what this one runs counts, since that is what the files are written by now.
 */
const newestRun = (
  { facts }: AnsweringPod,
  record: DataSetRecord | undefined,
): Required<Pick<DataSetRecord, 'primaryVersion' | 'primaryEngine'>> => {
  const before = (record?.primaryEngine ?? facts.engine) === facts.engine ? record?.primaryVersion : undefined;
  const isOlder = before !== undefined && compareEngineVersions(before, facts.version) > 0;
  return { primaryVersion: isOlder ? before : facts.version, primaryEngine: facts.engine };
};

const write = (view: ClusterView, change: Partial<DataSetRecord>, reason: string, message: string): RuleOutcome => ({
  reason,
  message,
  actions: [writeRecord(view, change, reason, message)],
});
