import type { ResolvedSpec } from '#domain';
import type { AnsweringPod, ClusterView, ShapeNote } from '../cluster-view.ts';

/** What a step of shape is chosen from: the view with the spec held at what is live, and who is primary in it. */
export interface ShapeContext {
  readonly view: ClusterView;
  readonly primary: AnsweringPod | undefined;
}

export interface ShapeStep {
  /** What of the live shape is replaced now. */
  readonly change: Partial<ResolvedSpec>;
  /** Present while this part of the shape is not yet as wanted. */
  readonly note?: ShapeNote;
}

export const hold = (reason: string, message: string, change: Partial<ResolvedSpec> = {}): ShapeStep => ({
  change,
  note: { reason, message },
});
