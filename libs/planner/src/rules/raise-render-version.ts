/**
 * A data set that an older agent made is rendered as that one did, so that an upgrade of the agent restarts no pod. It
 * comes to this release's render version when its pods are restarted anyway: right before the first restart of a rollout
 * of all its data pods (a changed spec, a RedisOperation Restart), or by itself in an open maintenance window. Never in
 * the middle of a rollout, which would restart updated pods a second time, and never while anything holds the rollout.
 */
import { CURRENT_RENDER_VERSION } from '#manifests';
import type { ClusterView } from '../cluster-view.ts';
import { writeRecord } from '../make-action.ts';
import { restartsAsked } from '../operations/restarts-asked.ts';
import { explainTurn, explainWindow } from '../rollout/explain-hold.ts';
import { findOutdated } from '../rollout/find-outdated.ts';
import type { Rule } from '../rule.ts';

export const raiseRenderVersion: Rule = {
  name: 'raise-render-version',
  decide: ({ view, primary, planned }) => {
    if (!view.specUsable || primary === undefined || view.record === undefined) return undefined;
    if (view.renderVersion >= CURRENT_RENDER_VERSION || planned.length > 0) return undefined;
    if (view.spec.updateStrategy.paused || explainTurn(view) !== undefined) return undefined;
    if (!isAboutToRestartAll(view) && !isWindowOpen(view)) return undefined;
    const reason = 'RaisingRenderVersion';
    const message = `Rendered as version ${CURRENT_RENDER_VERSION} from now on, before it was ${view.renderVersion}.`;
    return {
      reason,
      message,
      actions: [writeRecord(view, { renderVersion: CURRENT_RENDER_VERSION }, reason, message)],
    };
  },
};

const isAboutToRestartAll = (view: ClusterView): boolean => {
  const asked = restartsAsked(view);
  const { data, unknown } = findOutdated(view, asked);
  const isHeld = explainWindow(view) !== undefined && data.some((pod) => !asked.has(pod.name));
  return !unknown && !isHeld && data.length > 0 && data.length === view.dataPods.length;
};

const isWindowOpen = (view: ClusterView): boolean =>
  view.spec.maintenanceWindows.length > 0 && explainWindow(view) === undefined;
