/**
 * Persistence on the way. On: every data pod writes a complete append-only file first (switch-persistence), and only then
 * do the rendered files say so; a pod that restarts before loads that file, or what it held was not persistent yet. Off:
 * the rendered files say so first, and each pod ends its file and removes it by itself once its own volume shows them
 * (probe-redis.sh). The other way round, a pod that restarts on a file that was ended would take it for the newest state,
 * start as primary, and erase what the replicas have since (redis-engine facts 5 and 6).
 */
import { answers } from '../cluster-view.ts';
import type { AnsweringPod, ClusterView } from '../cluster-view.ts';
import { hold } from './shape-step.ts';
import type { ShapeContext, ShapeStep } from './shape-step.ts';

export const stepPersistence = ({ view }: ShapeContext): ShapeStep => {
  const { persistenceEnabled: live } = view.spec;
  const wanted = view.wanted.persistenceEnabled;
  if (live && wanted) return { change: {} };
  if (wanted) {
    if (view.dataPods.length >= view.spec.size && view.dataPods.every((pod) => answers(pod) && writesWholeAof(pod))) {
      return { change: { persistenceEnabled: true } };
    }
    return hold('StartingPersistence', 'Every data pod writes its append-only file before persistence is relied on.');
  }
  const writing = view.dataPods.filter((pod) => answers(pod) && writesAof(pod)).map((pod) => pod.name);
  if (writing.length === 0) return { change: { persistenceEnabled: false } };
  const message = `${writing.join(', ')} still write their append-only file; they end it within a minute or two.`;
  return hold('EndingPersistence', message, { persistenceEnabled: false, dropsAof: true });
};

export const writesAof = ({ facts }: AnsweringPod): boolean =>
  facts.aof?.enabled ?? facts.config['appendonly'] === 'yes';

/** From the first command that counts to the last: its first rewrite is over. */
export const writesWholeAof = (pod: AnsweringPod): boolean => {
  const { aof, loading } = pod.facts;
  if (loading || pod.facts.config['appendonly'] !== 'yes') return false;
  return aof === undefined || (aof.enabled && !aof.rewriting && aof.lastWriteOk);
};

/** Persistence is wanted and not relied on yet: pods are asked to write their file. */
export const startsPersistence = ({ live, wanted }: ClusterView): boolean =>
  wanted.persistenceEnabled && live.persistenceEnabled === false;
