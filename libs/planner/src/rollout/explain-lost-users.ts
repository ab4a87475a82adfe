/**
 * A user of the spec whose rules the newer engine does not take, such as a command that it dropped: the entrypoint leaves
 * the user out, so its clients would be shut out at the hand-over. The rollout stops at the first such pod, and goes on
 * when the rules are changed. Pods that are to be restarted anyway do not count, or taking a version back would be held.
 */
import { ownValue } from '#domain';
import type { AnsweringPod, ClusterView } from '../cluster-view.ts';
import { readServers } from '../read-credentials.ts';
import type { OutdatedPods } from './find-outdated.ts';
import type { Unrest } from './explain-unrest.ts';

export const explainLostUsers = (
  view: ClusterView,
  primary: AnsweringPod,
  outdated: OutdatedPods,
): Unrest | undefined => {
  const servers = readServers(view).filter(({ component }) => component === 'redis');
  const known = servers.find(({ pod }) => pod === primary.name)?.users ?? {};
  const restartsSoon = new Set(outdated.data.map(({ name }) => name));
  for (const { pod, users = {} } of servers.filter((server) => !restartsSoon.has(server.pod))) {
    const [lost] =
      Object.entries(users).find(
        ([user, seen]) =>
          seen.refused === true && !seen.acceptsCurrent && ownValue(known, user)?.acceptsCurrent === true,
      ) ?? [];
    if (lost === undefined) continue;
    const message = `${pod} refuses the rules of user ${lost}, which ${primary.name} takes: its clients would be shut out. Change them in spec.auth.users, or take the version back.`;
    return { reason: 'UserRulesRefused', message };
  }
  return undefined;
};
