/**
 * The live half of switching persistence on (shape/step-persistence.ts): each data pod writes an append-only file, one
 * at a time, since each forks for a copy of its memory; replicas first, the primary last. Also for a pod of a persistent
 * data set whose file was switched off by hand. Switching off is done in the pods.
 */
import { answers } from '../cluster-view.ts';
import type { AnsweringPod, ClusterView } from '../cluster-view.ts';
import { keepsAof, startsPersistence, writesWholeAof } from '../shape/step-persistence.ts';
import { waitFor } from '../rule.ts';
import type { Rule } from '../rule.ts';

export const switchPersistence: Rule = {
  name: 'switch-persistence',
  decide: ({ view, primary }) => {
    if (!view.specUsable || !(view.spec.persistenceEnabled || startsPersistence(view))) return undefined;
    const pods = view.dataPods.filter(answers).filter((pod) => !pod.facts.loading && !pod.terminating);
    const ordered = [...pods.filter((pod) => pod !== primary), ...pods.filter((pod) => pod === primary)];
    const next = ordered.find(isOff);
    if (next === undefined) return undefined;
    const busy = isUnderWay(view) ? ordered.find((pod) => !isOff(pod) && !writesWholeAof(pod)) : undefined;
    const reason = 'StartingPersistence';
    if (busy !== undefined) return waitFor(reason, `${busy.name} writes its append-only file.`);
    if (isUnderWay(view) && !keepsAof(next)) {
      return waitFor(reason, `${next.name} has not read yet that it may keep an append-only file.`);
    }
    const message = `${next.name} begins its append-only file.`;
    const values = { appendonly: 'yes' };
    const action = { kind: 'SetConfig', pod: next.name, values, reason, message, disruptive: false } as const;
    return { ...waitFor(reason, message), actions: [action] };
  },
};

const isOff = ({ facts }: AnsweringPod): boolean => facts.config['appendonly'] === 'no';

/** A rewrite in the ordinary run of a persistent data set holds up nobody. */
const isUnderWay = (view: ClusterView): boolean => !view.spec.persistenceEnabled;
