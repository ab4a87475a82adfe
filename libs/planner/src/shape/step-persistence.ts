/**
 * Persistence on the way. On: every data pod writes a complete append-only file first (switch-persistence), and only then
 * do the rendered files say so; a pod that restarts before loads that file, or what it held was not persistent yet. Off:
 * the rendered files say so first, and each pod ends its file and removes it by itself once its own volume shows them
 * (probe-redis.sh). The other way round, a pod that restarts on a file that was ended would take it for the newest state,
 * start as primary, and erase what the replicas have since (redis-engine facts 5 and 6).
 */
import { AOF_SEEN } from '#domain';
import { answers } from '../cluster-view.ts';
import type { AnsweringPod, ClusterView } from '../cluster-view.ts';
import { hold } from './shape-step.ts';
import type { ShapeContext, ShapeStep } from './shape-step.ts';

export const stepPersistence = (context: ShapeContext): ShapeStep => {
  const { view } = context;
  if (view.live.dropsAof) return endDropping(view);
  if (view.spec.persistenceEnabled) return view.wanted.persistenceEnabled ? { change: {} } : drop(view);
  if (!view.wanted.persistenceEnabled) {
    const writing = view.dataPods.some((pod) => answers(pod) && writesAof(pod));
    return writing ? drop(view) : { change: { persistenceEnabled: false } };
  }
  const complete = view.dataPods.every((pod) => answers(pod) && writesWholeAof(pod) && keepsAof(pod));
  if (complete && view.dataPods.length >= view.spec.size) return { change: { persistenceEnabled: true } };
  return hold('StartingPersistence', 'Every data pod writes its append-only file before persistence is relied on.');
};

const drop = (view: ClusterView): ShapeStep => {
  const names = view.dataPods.map(({ name }) => name).join(', ');
  const change = { persistenceEnabled: false, dropsAof: true };
  return hold('EndingPersistence', `${names} end and remove their append-only files.`, change);
};

/**
 * What was rendered once is carried out by every pod before anything else is rendered: a pod that reads it late would
 * remove a file that was begun meanwhile.
 */
const endDropping = (view: ClusterView): ShapeStep => {
  const pending = view.dataPods.filter((pod) => !(answers(pod) && hasDroppedAof(pod)));
  if (pending.length > 0 || view.dataPods.length < view.spec.size) return drop({ ...view, dataPods: pending });
  const change = { persistenceEnabled: false };
  if (!view.wanted.persistenceEnabled) return { change };
  return hold('StartingPersistence', 'The pods are told to keep an append-only file again.', change);
};

const hasDroppedAof = (pod: AnsweringPod): boolean => seesAof(pod, 'drop') && !writesAof(pod);

export const writesAof = ({ facts }: AnsweringPod): boolean =>
  facts.aof?.enabled ?? facts.config['appendonly'] === 'yes';

/** From the first command that counts to the last: its first rewrite is over. */
export const writesWholeAof = (pod: AnsweringPod): boolean => {
  const { aof, loading } = pod.facts;
  if (loading || pod.facts.config['appendonly'] !== 'yes') return false;
  return aof === undefined || (aof.enabled && !aof.rewriting && aof.lastWriteOk);
};

/** The pod's own settings do not tell it to remove its file: only then may one be begun there. */
export const keepsAof = (pod: AnsweringPod): boolean => seesAof(pod, 'keep');

const seesAof = ({ facts }: AnsweringPod, what: 'drop' | 'keep'): boolean =>
  facts.config['proc-title-template']?.endsWith(`${AOF_SEEN}${what}`) === true;

/** Persistence is wanted and not relied on yet: pods are asked to write their file. */
export const startsPersistence = ({ live, wanted }: ClusterView): boolean =>
  wanted.persistenceEnabled && live.persistenceEnabled === false;
