/**
 * Carries out a tombstone: reads the live object, asks decide-tombstone, deletes or lets go on the server with the uid as
 * precondition. DELETED is said only when the object is gone; while its finalizers run it is WAITING. An object that is
 * let go keeps every field: the hub's annotations go, the data set id stays, and nobody owns the fields any more.
 */
import { ANNOTATION, FIELD_MANAGER } from '#domain';
import type { KubeObject, ManagedFieldsEntry } from '#domain';
import { KubeError, RESOURCE } from '#kube';
import type { ObjectOutcome, Tombstone } from '#protocol';
import { outcomeOfError } from './classify-kube-error.ts';
import { decideTombstone, terminating } from './decide-tombstone.ts';
import type { Bounds } from './explain-forbidden.ts';
import { readDataSetId } from './hub-version.ts';
import { findObject } from './member-api.ts';
import type { MemberApi } from './member-api.ts';
import { outcomeOf, waiting } from './outcome.ts';

export interface TombstoneContext {
  readonly api: MemberApi;
  readonly bounds: Bounds;
  /** Without what was counted for the object with this uid. */
  readonly recentDeletesMs: (uid: string | undefined) => readonly number[];
  readonly isOfMass: boolean;
  /** This delete was carried out here before, with the approval that it had then. */
  readonly carriedOut: { readonly approvalId?: string } | undefined;
  /** Books a delete without approval before it is sent; resolves when that is kept over a restart. */
  readonly countDelete: (uid: string | undefined) => Promise<void>;
  readonly nowMs: () => number;
}

export interface TombstoneResult {
  readonly outcome: ObjectOutcome;
  /** The tombstone was carried out, so that no later upsert of this hubUid may undo it. */
  readonly remember: boolean;
  /** The object after it was let go. */
  readonly written?: KubeObject;
}

const MAX_LOOKS = 5;

/** The object that was looked at when the delete was decided: another one in its place was put back meanwhile. */
interface Meant {
  uid: string | undefined;
}

/** Throws MemberApiDownError or FencedError when the object stays unprocessed. */
export async function applyTombstone(context: TombstoneContext, tombstone: Tombstone): Promise<TombstoneResult> {
  try {
    const meant: Meant = { uid: undefined };
    for (let look = 0; look < MAX_LOOKS; look += 1) {
      const result = await lookAndAct(context, tombstone, meant);
      if (result !== 'LOOK_AGAIN') return result;
    }
    const outcome = waiting(tombstone, 'NAME_TAKEN', 'The object changes too fast; it is looked at again.');
    return { outcome, remember: false };
  } catch (error) {
    return { outcome: outcomeOfError(error, tombstone), remember: false };
  }
}

async function lookAndAct(
  context: TombstoneContext,
  tombstone: Tombstone,
  meant: Meant,
): Promise<TombstoneResult | 'LOOK_AGAIN'> {
  const live = await findObject(context.api, RESOURCE.redisCluster, tombstone);
  const uid = live?.metadata.uid;
  const decision = decideTombstone({
    tombstone,
    live,
    bounds: context.bounds,
    recentDeletesMs: context.recentDeletesMs(uid),
    nowMs: context.nowMs(),
    isOfMass: context.isOfMass,
    carriedOut: context.carriedOut,
    isReplaced: meant.uid !== undefined && uid !== meant.uid,
  });
  if (decision.kind === 'OUTCOME') return decision;
  try {
    if (decision.kind === 'ORPHAN') {
      const written = await letGo(context.api, decision.live);
      return { outcome: outcomeOf(tombstone, 'ORPHANED'), remember: true, written };
    }
    meant.uid = decision.live.metadata.uid;
    if (decision.counts) await context.countDelete(uid);
    return await deleteObject(context.api, tombstone, decision.live);
  } catch (error) {
    // Gone, or another version or object by now: what that means is decided anew.
    if (error instanceof KubeError && (error.isConflict() || error.isNotFound())) return 'LOOK_AGAIN';
    throw error;
  }
}

async function deleteObject(api: MemberApi, tombstone: Tombstone, live: KubeObject): Promise<TombstoneResult> {
  const { uid } = live.metadata;
  await api.delete(RESOURCE.redisCluster, tombstone, {
    ...(uid === undefined ? {} : { uid }),
    propagationPolicy: 'Background',
  });
  const after = await findObject(api, RESOURCE.redisCluster, tombstone);
  const gone = after === undefined || after.metadata.uid !== uid;
  return { outcome: gone ? outcomeOf(tombstone, 'DELETED') : terminating(tombstone), remember: true };
}

const HUB_ANNOTATIONS = [
  ANNOTATION.hubUid,
  ANNOTATION.hubName,
  ANNOTATION.hubGeneration,
  ANNOTATION.specHash,
  ANNOTATION.pushedBy,
];

/**
 * Without the explicit data set id the operator would take the object for a new data set once the hubUid is gone. The
 * link's entry is cut out of managedFields, so that nothing is taken away with it and the next writer meets no conflict;
 * an empty list would mean "leave as it is", one empty entry means none (kubernetes.io, Server-Side Apply).
 */
function letGo(api: MemberApi, live: KubeObject): Promise<KubeObject> {
  const dataSetId = readDataSetId(live);
  const others = (live.metadata.managedFields ?? []).filter((entry) => entry.manager !== FIELD_MANAGER.link);
  const managedFields: readonly ManagedFieldsEntry[] = others.length === 0 ? [{}] : others;
  const annotations: Record<string, string | null> = Object.fromEntries(HUB_ANNOTATIONS.map((name) => [name, null]));
  if (dataSetId !== undefined) annotations[ANNOTATION.dataSetId] = dataSetId;
  const { resourceVersion, uid } = live.metadata;
  return api.patchMerge(
    RESOURCE.redisCluster,
    live.metadata,
    { metadata: { resourceVersion, uid, annotations, managedFields } },
    { fieldManager: FIELD_MANAGER.operator },
  );
}
