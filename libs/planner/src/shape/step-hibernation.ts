/**
 * Into hibernation: the Sentinels watch nothing first (they would fail over), then every replica goes at once, then the
 * primary, which writes its file to the end when it is stopped; the Sentinels go with it. Nothing else of the shape is
 * changed meanwhile. Waking is a full outage that ends: everything is started, and recover-primary goes on from the record.
 */
import type { AnsweringPod, ClusterView } from '../cluster-view.ts';
import { hold } from './shape-step.ts';
import type { ShapeContext, ShapeStep } from './shape-step.ts';
import { areSentinelsSilent } from './step-mode.ts';
import { explainStaying } from './step-size.ts';

export const stepHibernation = ({ view, primary }: ShapeContext): ShapeStep => {
  const redis = view.live.running.redis ?? view.spec.size;
  if (redis === 0) return endHibernation(view);
  const sentinel = view.spec.mode === 'Sentinel' ? (view.live.running.sentinel ?? 0) : 0;
  const stay = { runningPods: { redis, sentinel } };
  if (sentinel > 0 && !areSentinelsSilent(view)) {
    return hold('FallingAsleep', 'The Sentinels are told to watch nothing before the pods go.', stay);
  }
  if (redis === 1) return endPrimary(view, primary, stay);
  const blocked = explainBlocked(view, primary);
  if (blocked !== undefined) return hold('FallingAsleep', blocked, stay);
  return hold('FallingAsleep', 'The replicas go first.', { runningPods: { redis: 1, sentinel } });
};

const endPrimary = (view: ClusterView, primary: AnsweringPod | undefined, stay: ShapeStep['change']): ShapeStep => {
  const others = view.dataPods.filter((pod) => pod.ordinal > 0).map((pod) => pod.name);
  if (others.length > 0) return hold('FallingAsleep', `Waiting until ${others.join(', ')} are gone.`, stay);
  if (primary?.facts.aof?.lastWriteOk === false) {
    return hold('FallingAsleep', `${primary.name} cannot write its append-only file; its disk needs a look.`, stay);
  }
  if (primary !== undefined && lacksFile(primary)) {
    return hold(
      'FallingAsleep',
      `${primary.name} writes no append-only file; it begins one before it is stopped.`,
      stay,
    );
  }
  return hold('FallingAsleep', 'The primary goes last.', { runningPods: { redis: 0, sentinel: 0 } });
};

/** What is only in memory would be gone (somebody switched the file off, or it is just being begun). */
export const lacksFile = (primary: AnsweringPod): boolean => {
  const { aof, config } = primary.facts;
  return config['appendonly'] === 'no' || aof?.enabled === false;
};

const endHibernation = (view: ClusterView): ShapeStep => {
  const change = { runningPods: { redis: 0, sentinel: 0 } };
  const left = view.dataPods.length + view.sentinelPods.length;
  return left === 0 ? { change } : hold('FallingAsleep', `Waiting until ${left} pods are gone.`, change);
};

const explainBlocked = (view: ClusterView, primary: AnsweringPod | undefined): string | undefined => {
  if (primary === undefined) return 'There is no confirmed primary; nothing is put to sleep before there is one.';
  if (primary.name !== view.record?.primaryPod) return `Waiting until ${primary.name} is the recorded primary.`;
  return primary.ordinal === 0 ? undefined : explainStaying(view, primary, 1)?.[1];
};
