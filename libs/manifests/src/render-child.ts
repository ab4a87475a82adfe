import type { ResolvedSpec } from '#domain';
import type { ChildOwner } from './labels.ts';
import type { ObjectNames } from './names.ts';

/** Everything the renderers work from. Equal input gives equal objects, byte for byte. */
export interface RenderContext {
  readonly owner: ChildOwner;
  readonly names: ObjectNames;
  readonly spec: ResolvedSpec;
  /** The pod that the record names as primary; the guard of a data set without Sentinel reads it. */
  readonly recordedPrimary?: string | undefined;
  /** Pods that come back to an old volume (DataSetRecord.returning); their entrypoint sets it aside. */
  readonly returning?: Readonly<Record<string, number>> | undefined;
  /** Sentinel's own id per ordinal, for as many ordinals as the spec may ever ask for. */
  readonly sentinelIds: readonly string[];
}
