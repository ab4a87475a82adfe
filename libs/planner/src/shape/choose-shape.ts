/**
 * The shape that is rendered in this pass: mode, number of pods and Sentinels, persistence, storage. Each is led from
 * what is live to what is wanted in steps that are safe by themselves, chosen anew in each pass from what is seen; nothing
 * but the children and the pods remembers how far it got, so an agent killed anywhere goes on from there.
 */
import { findPrimary } from '../find-primary.ts';
import type { ClusterView, ShapeNote } from '../cluster-view.ts';
import type { ShapeContext, ShapeStep } from './shape-step.ts';
import { stepHibernation } from './step-hibernation.ts';
import { stepFromUnknown } from './step-from-unknown.ts';
import { stepMinReplicas } from './step-min-replicas.ts';
import { sleeps, stepMode } from './step-mode.ts';
import { stepPersistence } from './step-persistence.ts';
import { stepSentinels } from './step-sentinels.ts';
import { stepSize } from './step-size.ts';
import { stepStorage } from './step-storage.ts';

/** The view with `spec` set to the next step of the shape; given one whose spec is held at what is live. */
export const chooseShape = (view: ClusterView): ClusterView => {
  const context: ShapeContext = { view, primary: findPrimary(view) };
  const steps = chooseSteps(context);
  const next = steps.reduce((spec, { change }) => ({ ...spec, ...change }), view.spec);
  const minReplicasToWrite = stepMinReplicas(context, next);
  return {
    ...view,
    spec: { ...next, failover: { ...next.failover, minReplicasToWrite } },
    shapeNotes: steps.flatMap(({ note }): ShapeNote[] => (note === undefined ? [] : [note])),
  };
};

const chooseSteps = (context: ShapeContext): readonly ShapeStep[] => {
  const { view } = context;
  if (view.live.mode === undefined) return [stepFromUnknown(view)];
  if (sleeps(view)) return [stepHibernation(context)];
  return [stepMode, stepSize, stepSentinels, stepPersistence, stepStorage].map((step) => step(context));
};
