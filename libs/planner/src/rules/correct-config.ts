/**
 * Live directives are as the spec says, whoever changed them: one atomic CONFIG SET a pod, replicas first, the primary
 * last. What only a restart can change is told here and restarted by the roll-out; what a server refuses is told with its
 * reason. Which is which: judge-config.ts.
 */
import type { Action, ConfigStatus } from '#domain';
import { judgeConfig } from '../judge-config.ts';
import type { ConfigJudgement } from '../judge-config.ts';
import type { Finding, Rule } from '../rule.ts';

export const CONFIG_DIFFERS = 'ConfigDiffers';

export const correctConfig: Rule = {
  name: 'correct-config',
  decide: ({ view, primary }) => {
    if (!view.specUsable) return undefined;
    const { changes, status } = judgeConfig(view);
    const ordered = [
      ...changes.filter(({ pod }) => pod.name !== primary?.name),
      ...changes.filter(({ pod }) => pod.name === primary?.name),
    ];
    const actions = ordered.map(setDiffering);
    const finding = explain(status, actions);
    if (finding === undefined) return undefined;
    return { reason: finding.reason, message: finding.message, actions, findings: [finding] };
  },
};

const setDiffering = ({ pod, values }: ConfigJudgement['changes'][number]): Action => ({
  kind: 'SetConfig',
  pod: pod.name,
  values,
  reason: CONFIG_DIFFERS,
  message: `Setting ${Object.keys(values).join(', ')} on ${pod.name}.`,
  disruptive: false,
});

const explain = (status: ConfigStatus | undefined, [first]: readonly Action[]): Finding | undefined => {
  const { rejected = [], pendingRestart = [] } = status ?? {};
  if (rejected.length > 0) return tell('DirectiveRejected', describeRejected(rejected));
  if (first !== undefined) return tell(first.reason, first.message);
  if (pendingRestart.length === 0) return undefined;
  return tell('RestartPending', `${pendingRestart.join(', ')} take effect at the next restart of the pods.`);
};

const describeRejected = (rejected: ConfigStatus['rejected']): string => {
  const told = rejected.slice(0, 1).map(({ key, reason }) => `${key}: ${reason}`);
  return rejected.length === 1 ? told.join('') : `${told.join('')} And ${rejected.length - 1} more, see status.config.`;
};

const tell = (reason: string, message: string): Finding => ({
  type: 'ConfigApplied',
  status: 'False',
  reason,
  message,
});
