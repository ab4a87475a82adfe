/**
 * Carries out an upsert: reads the live object, asks decide-upsert, applies on the server. Server-side apply as the
 * hub's field manager, never forced, except for fields a person asked to have back and for our own annotations; forced
 * writes carry the resourceVersion that was looked at, so they never run over an edit made in between. An existing
 * object is applied with its uid, so it can neither be mixed up nor made again.
 */
import { isDeepStrictEqual } from 'node:util';
import { ANNOTATION, FIELD_MANAGER, LABEL, formatScopeOwner, hubUidOf } from '#domain';
import type { KubeObject, TombstoneKind } from '#domain';
import { KubeError, RESOURCE, fieldOwners, valueAtPath } from '#kube';
import type { FieldConflict } from '#kube';
import type { ObjectOutcome, Upsert } from '#protocol';
import { buildApplyBody } from './build-apply-body.ts';
import type { ApplyBody } from './build-apply-body.ts';
import type { ChangeBreaker } from './change-breaker.ts';
import { isMissingNamespace, outcomeOfError } from './classify-kube-error.ts';
import { decideUpsert } from './decide-upsert.ts';
import type { Spec, UpsertDecision } from './decide-upsert.ts';
import type { Bounds } from './explain-forbidden.ts';

import { isAtOrUnder } from './is-at-or-under.ts';
import { foreignField, listForeignFields } from './list-foreign-fields.ts';
import { findObject } from './member-api.ts';
import type { MemberApi } from './member-api.ts';
import { outcomeOf, waiting } from './outcome.ts';
import { removeAddedFields } from './remove-added-fields.ts';

export interface UpsertContext {
  readonly api: MemberApi;
  readonly bounds: Bounds;
  readonly tombstoneOf: (hubUid: string) => TombstoneKind | undefined;
  readonly isUnclaimed: (hubUid: string) => boolean;
  /** RedisClusters here that a hub manages. */
  readonly managedObjects: () => number;
  readonly dataSetHolder: (upsert: Upsert) => string | undefined;
  readonly changes: Pick<ChangeBreaker, 'historyOf' | 'note'>;
}

export interface UpsertResult {
  readonly outcome: ObjectOutcome;
  /** The object as the server has it after the write; undefined when nothing was written. */
  readonly written?: KubeObject;
}

type Writing = Extract<UpsertDecision, { kind: 'CREATE' | 'UPDATE' }>;

/** Looks again this often when the object changes under our hands; then it is WAITING. */
const MAX_LOOKS = 5;

/** Throws MemberApiDownError or FencedError when the object stays unprocessed. */
export async function applyUpsert(context: UpsertContext, upsert: Upsert): Promise<UpsertResult> {
  try {
    for (let look = 0; look < MAX_LOOKS; look += 1) {
      const result = await lookAndWrite(context, upsert);
      if (result !== 'LOOK_AGAIN') return result;
    }
    return { outcome: waiting(upsert, 'NAME_TAKEN', 'The object changes too fast; it is looked at again.') };
  } catch (error) {
    return { outcome: outcomeOfError(error, upsert) };
  }
}

async function lookAndWrite(context: UpsertContext, upsert: Upsert): Promise<UpsertResult | 'LOOK_AGAIN'> {
  const live = await findObject(context.api, RESOURCE.redisCluster, upsert);
  const decision = decide(context, upsert, live);
  if (decision.kind === 'HELD') return { outcome: outcomeOfHeld(upsert, decision) };
  // Kept before anything is told or written, so that it holds over a restart.
  if (live !== undefined) await context.changes.note(upsert, live, decision);
  return decision.kind === 'OUTCOME' ? { outcome: decision.outcome } : write(context, upsert, decision);
}

const decide = (context: UpsertContext, upsert: Upsert, live: KubeObject | undefined): UpsertDecision =>
  decideUpsert({
    upsert,
    live,
    tombstone: context.tombstoneOf(upsert.hubUid),
    liveIsUnclaimed: context.isUnclaimed(live === undefined ? '' : (hubUidOf(live.metadata) ?? '')),
    bounds: context.bounds,
    managedObjects: live === undefined ? context.managedObjects() : 0,
    dataSetHolder: context.dataSetHolder(upsert),
    history: context.changes.historyOf(upsert),
  });

/** As an apply would end, without one: a field that others own with the wanted value is no conflict. */
function outcomeOfHeld(
  upsert: Upsert,
  { live, spec }: { readonly live: KubeObject; readonly spec: Spec },
): ObjectOutcome {
  const contested = listForeignFields(live).filter(({ path }) => {
    const wanted = valueAtPath({ spec }, path);
    return wanted !== undefined && !isDeepStrictEqual(wanted, valueAtPath(live, path));
  });
  return writtenOutcome(upsert, live, contested);
}

/** What is written now, and what of it was left to others. */
function writtenOutcome(upsert: Upsert, live: KubeObject, contested: readonly FieldConflict[]): ObjectOutcome {
  const { uid } = live.metadata;
  const version = { specHash: upsert.specHash, ...(uid === undefined ? {} : { uid }) };
  if (contested.length === 0) return { ...outcomeOf(upsert, 'APPLIED'), ...version };
  const message = `Left to their owners: ${contested.map((field) => `${field.path} (${field.manager})`).join(', ')}.`;
  return {
    ...outcomeOf(upsert, 'CONFLICT', { message, retryable: false }),
    ...version,
    contested: contested.map((field) => foreignField(live, field.path, field.manager)),
  };
}

async function write(context: UpsertContext, upsert: Upsert, decision: Writing): Promise<UpsertResult | 'LOOK_AGAIN'> {
  try {
    const { object, contested } = await applyWithoutContested(
      context,
      upsert,
      decision.kind === 'UPDATE' ? await removeAddedFields(context.api, upsert, decision) : decision,
    );
    if (decision.kind === 'CREATE' && (await wasMadeByHand(context.api, object))) return 'LOOK_AGAIN';
    return { outcome: writtenOutcome(upsert, object, contested), written: object };
  } catch (error) {
    if (decision.kind === 'CREATE' && isMissingNamespace(error)) {
      await createNamespace(context.api, upsert.namespace);
      return 'LOOK_AGAIN';
    }
    // Another object, or another version of it, is there by now.
    if (error instanceof KubeError && error.isConflict()) return 'LOOK_AGAIN';
    throw error;
  }
}

interface Applied {
  readonly object: KubeObject;
  readonly contested: readonly FieldConflict[];
}

/** Applies all that nobody else owns. Throws the conflict when the object itself is another one. */
async function applyWithoutContested(
  { api, bounds }: UpsertContext,
  upsert: Upsert,
  decision: Writing,
): Promise<Applied> {
  const pushedBy = formatScopeOwner(bounds.scope);
  const contested: FieldConflict[] = [];
  for (;;) {
    const body = buildApplyBody(upsert, decision, { pushedBy, leaveOut: contested.map((field) => field.path) });
    try {
      return { object: await api.apply(body, { fieldManager: FIELD_MANAGER.link }), contested };
    } catch (error) {
      if (decision.kind === 'CREATE' || !(error instanceof KubeError) || error.fieldConflicts.length === 0) throw error;
      const theirs = error.fieldConflicts.filter((field) => !mayTake(upsert, field.path));
      if (theirs.length === 0) return { object: await applyForced(api, body, decision.live), contested };
      if (theirs.every((field) => contested.some((known) => known.path === field.path))) throw error;
      contested.push(...theirs);
    }
  }
}

/** Only ever for a body whose remaining conflicts are all ours to take; a change since we looked is a 409. */
const applyForced = (api: MemberApi, body: ApplyBody, live: KubeObject): Promise<KubeObject> =>
  api.apply(
    { ...body, metadata: { ...body.metadata, resourceVersion: live.metadata.resourceVersion ?? '' } },
    { fieldManager: FIELD_MANAGER.link, force: true },
  );

const OUR_ANNOTATIONS = Object.values(ANNOTATION).map((name) => `metadata.annotations.${name}`);

function mayTake(upsert: Upsert, path: string): boolean {
  if (OUR_ANNOTATIONS.includes(path)) return true;
  if (!isAtOrUnder(path, 'spec')) return false;
  return upsert.driftPolicy === 'Revert' || (upsert.revertFields ?? []).some((field) => isAtOrUnder(path, field));
}

/**
 * An apply that should create may meet an object that a person made a moment before, and would then be merged into it.
 * A created object has no other owner yet; otherwise an empty apply gives everything back, and we look again.
 */
async function wasMadeByHand(api: MemberApi, object: KubeObject): Promise<boolean> {
  const others = fieldOwners(object.metadata.managedFields, '').filter((owner) => owner.manager !== FIELD_MANAGER.link);
  if (others.length === 0) return false;
  const { name, namespace, uid } = object.metadata;
  await api.apply(
    {
      apiVersion: object.apiVersion,
      kind: object.kind,
      metadata: { name, ...(namespace === undefined ? {} : { namespace }), ...(uid === undefined ? {} : { uid }) },
    },
    { fieldManager: FIELD_MANAGER.link },
  );
  return true;
}

/** Made for the user's convenience, never deleted by us. One that appears meanwhile is as good. */
async function createNamespace(api: MemberApi, name: string): Promise<void> {
  try {
    await api.create(
      { apiVersion: 'v1', kind: 'Namespace', metadata: { name, labels: { [LABEL.managedBy]: 'atoll' } } },
      { fieldManager: FIELD_MANAGER.link },
    );
  } catch (error) {
    if (!(error instanceof KubeError) || !error.isAlreadyExists()) throw error;
  }
}
