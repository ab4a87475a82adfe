/**
 * Every Kubernetes object of one data set, from the spec: the whole desired state, in the order in which it is applied
 * (what a pod mounts before the pod). Invariants: rendering twice gives the same bytes; an object rendered under an older
 * render version keeps that version's shape, so that an upgrade of the agent restarts no pod; no ownerReferences, since
 * with them removing the CRD would delete every Redis within a second. Credentials, connection and record are not here:
 * their content comes from elsewhere (secrets.ts, record.ts).
 */
import { createHash } from 'node:crypto';
import { ANNOTATION, SPEC_LIMITS, type DataSetId, type KubeObject, type ResolvedSpec } from '#domain';
import { childAnnotations, childLabels, type ChildOwner } from './labels.ts';
import { nameObjects, sentinelId } from './names.ts';
import type { RenderContext } from './render-child.ts';
import { renderConfig, renderScripts } from './render-config-maps.ts';
import { renderDisruptionBudget } from './render-disruption-budget.ts';
import { renderServices } from './render-services.ts';
import { renderRedisStatefulSet, renderSentinelStatefulSet } from './render-stateful-sets.ts';

/**
 * What new objects are rendered as. Raised when a pod template changes for an unchanged spec; older versions stay
 * renderable, byte for byte (recorded/render-version-1.json is what release 0.1.0 rendered). Version 2: the pod template
 * tells its render version, and a data pod hands its primary over before it ends. What a user sets in the spec appears in every version; Services, budgets, ConfigMaps and the
 * scripts in them restart nobody and are those of this release, so they work with pods of every version.
 */
export const CURRENT_RENDER_VERSION = 2;
const OLDEST_RENDER_VERSION = 1;

export interface RenderInput {
  readonly name: string;
  readonly namespace: string;
  readonly dataSetId: DataSetId;
  readonly spec: ResolvedSpec;
  /** From the record of the data set; CURRENT_RENDER_VERSION for a new one. */
  readonly renderVersion: number;
  /** From the record of the data set; missing before there is one. */
  readonly recordedPrimary?: string | undefined;
  /** From the record: pods that come back to an old volume. */
  readonly returning?: Readonly<Record<string, number>> | undefined;
}

/** Owner of the children as labels and annotations know it. */
export const describeOwner = (input: Omit<RenderInput, 'spec'>): ChildOwner => ({
  name: input.name,
  namespace: input.namespace,
  dataSetHash: nameObjects(input.name, input.dataSetId).hash,
  renderVersion: input.renderVersion,
});

/** The desired objects in order of application. Throws for a render version that this release does not know. */
export const renderChildren = (input: RenderInput): readonly KubeObject[] => {
  if (input.renderVersion > CURRENT_RENDER_VERSION || input.renderVersion < OLDEST_RENDER_VERSION) {
    throw new RangeError(`render version ${input.renderVersion} is not known to this release`);
  }
  const context = makeContext(input);
  const { names, spec } = context;
  const withSentinel = spec.mode === 'Sentinel';
  return withRenderedHash([
    renderServiceAccount(context),
    renderScripts(context),
    renderConfig(context),
    ...renderServices(context),
    renderDisruptionBudget(context, names.redis, 'redis'),
    ...(withSentinel ? [renderDisruptionBudget(context, names.sentinel, 'sentinel')] : []),
    renderRedisStatefulSet(context),
    ...(withSentinel ? [renderSentinelStatefulSet(context)] : []),
  ]);
};

/**
 * Each object tells the hash of itself. A difference is looked for in the fields that are rendered, so one that is rendered
 * no more would stay for ever; with another hash the object is applied, and the apply takes the field away.
 */
const withRenderedHash = (objects: readonly KubeObject[]): readonly KubeObject[] =>
  objects.map((object) => {
    const hash = createHash('sha256').update(JSON.stringify(object)).digest('hex').slice(0, 16);
    const annotations = { ...object.metadata.annotations, [ANNOTATION.rendered]: hash };
    return { ...object, metadata: { ...object.metadata, annotations } };
  });

const makeContext = (input: RenderInput): RenderContext => ({
  owner: describeOwner(input),
  names: nameObjects(input.name, input.dataSetId),
  spec: input.spec,
  recordedPrimary: input.recordedPrimary,
  returning: input.returning,
  sentinelIds: Array.from({ length: SPEC_LIMITS.maxSentinels }, (_, ordinal) => sentinelId(input.dataSetId, ordinal)),
});

const renderServiceAccount = ({ owner, names }: RenderContext): KubeObject => ({
  apiVersion: 'v1',
  kind: 'ServiceAccount',
  metadata: {
    name: names.serviceAccount,
    namespace: owner.namespace,
    labels: childLabels(owner, 'all'),
    annotations: childAnnotations(owner),
  },
  automountServiceAccountToken: false,
});
