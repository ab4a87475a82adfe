/**
 * Two nodes that both say "master" and both hold keys: each may have taken writes that the other lacks. Nothing is
 * demoted here, since demoting one erases what only it holds. In Sentinel mode the Sentinels demote the loser within
 * seconds; elsewhere, or without their majority, a person has to choose.
 */
import { findPrimary, isMaster } from '../find-primary.ts';
import { judgeSentinels } from '../judge-sentinels.ts';
import type { AnsweringPod, ClusterView } from '../cluster-view.ts';
import type { Finding, Rule } from '../rule.ts';

export const checkDataSafety: Rule = {
  name: 'check-data-safety',
  decide: ({ view }) => {
    const masters = view.dataPods.filter(isMaster).filter((pod) => pod.facts.keys > 0);
    if (masters.length < 2) return undefined;
    const message = describe(view, masters);
    const reason = 'TwoPrimaries';
    const findings: Finding[] = [{ type: 'DataAtRisk', status: 'True', reason, message }];
    if (!sentinelsDecide(view, masters)) findings.push({ type: 'ActionRequired', status: 'True', reason, message });
    return { reason, message, findings };
  },
};

/** The Sentinels demote a primary that they did not choose, if they know its address at all. */
const sentinelsDecide = (view: ClusterView, masters: readonly AnsweringPod[]): boolean => {
  if (view.spec.mode !== 'Sentinel') return false;
  const { majorityMonitors, agreedHost, knownHosts } = judgeSentinels(view);
  return majorityMonitors && masters.every(({ ip = '' }) => ip === agreedHost || knownHosts.has(ip));
};

const describe = (view: ClusterView, masters: readonly AnsweringPod[]): string => {
  const list = masters.map((pod) => `${pod.name} (${pod.facts.keys} keys)`).join(' and ');
  const kept = findPrimary(view);
  if (sentinelsDecide(view, masters)) {
    return `${list} are both primaries; the Sentinels demote the one they did not choose.`;
  }
  const loser = masters.find((pod) => pod.name !== kept?.name)?.name ?? '';
  const advice =
    kept === undefined
      ? 'Make one of them a replica of the other, after saving what only it holds.'
      : `Clients are sent to ${kept.name}. Save what only ${loser} holds, then delete pod ${loser}: it comes back as a replica.`;
  return `${list} are both primaries and may hold different writes. ${advice}`;
};
