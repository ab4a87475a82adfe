/**
 * What an upsert means here, from the message, the live object and what this agent remembers (03 rules 3 to 6). It reads
 * nothing and writes nothing. Invariants: an object of another owner is never touched without adoption, a lower
 * generation never overwrites a higher one, and nothing is created that the hub did not ask to create. Without
 * this one table a late, repeated or forged message would move data.
 */
import { ANNOTATION, API_GROUP_VERSION, MAX_OBJECT_BYTES, REDIS_CLUSTER_KIND } from '#domain';
import type { KubeObject, TombstoneKind } from '#domain';
import { specHash } from '#protocol';
import type { ObjectOutcome, ObjectVersion, Upsert } from '#protocol';
import { readDataSetId, readHubVersion } from './hub-version.ts';
import { explainForbiddenNamespace, explainForbiddenSpec, explainProtectedNamespace } from './explain-forbidden.ts';
import type { Bounds } from './explain-forbidden.ts';
import { judgeChange } from './judge-change.ts';
import type { ChangeHistory } from './judge-change.ts';
import { outcomeOf, rejected, waiting } from './outcome.ts';

export interface UpsertQuestion {
  readonly upsert: Upsert;
  /** Read from the server right before; undefined when there is none. */
  readonly live: KubeObject | undefined;
  /** A tombstone of this hubUid that was carried out here. */
  readonly tombstone: TombstoneKind | undefined;
  /** True when the live object is told as UNCLAIMED (is-counted-in-digest.ts): then it may be adopted. */
  readonly liveIsUnclaimed: boolean;
  readonly bounds: Bounds;
  /** RedisClusters here that a hub manages. */
  readonly managedObjects: number;
  /** Another object of this namespace that holds the data set which the upsert names. */
  readonly dataSetHolder: string | undefined;
  readonly history: ChangeHistory;
}

export type Spec = Readonly<Record<string, unknown>>;

export type UpsertDecision =
  | { readonly kind: 'OUTCOME'; readonly outcome: ObjectOutcome }
  /** This very version is what was written last: nothing to write, only to say what others have changed since. */
  | { readonly kind: 'HELD'; readonly live: KubeObject; readonly spec: Spec }
  | { readonly kind: 'CREATE'; readonly spec: Spec; readonly dataSetId?: string }
  | {
      readonly kind: 'UPDATE';
      readonly spec: Spec;
      readonly live: KubeObject;
      readonly dataSetId?: string;
      /** It can lose data or stop Redis: counted before it is written. */
      readonly counts?: true;
    };

const answer = (outcome: ObjectOutcome): UpsertDecision => ({ kind: 'OUTCOME', outcome });
const withDataSetId = (id: string | undefined): { dataSetId?: string } => (id === undefined ? {} : { dataSetId: id });

export function decideUpsert(question: UpsertQuestion): UpsertDecision {
  const decision = decideByTruth(question);
  const taken = refuseTakenData(question, decision);
  if (taken !== undefined) return taken;
  if (decision.kind === 'UPDATE') return holdIfDestructive(question, decision);
  return decision.kind === 'CREATE' ? refuseTooMany(question, decision) : decision;
}

/** Two objects with one data set would have their pods behind the same Services: clients would write to two primaries. */
function refuseTakenData(question: UpsertQuestion, decision: UpsertDecision): UpsertDecision | undefined {
  const { upsert, dataSetHolder } = question;
  if (dataSetHolder === undefined || (decision.kind !== 'CREATE' && decision.kind !== 'UPDATE')) return undefined;
  // What holds it already goes on, whoever copies its annotations.
  const held = decision.kind === 'UPDATE' ? readDataSetId(decision.live) : undefined;
  if (decision.dataSetId !== upsert.dataSetId || held === upsert.dataSetId) return undefined;
  const message = `RedisCluster ${dataSetHolder} of this namespace holds the data set ${upsert.dataSetId ?? ''}. Remove it first.`;
  return answer(waiting(upsert, 'NAME_TAKEN', message));
}

function refuseTooMany({ upsert, bounds, managedObjects }: UpsertQuestion, decision: UpsertDecision): UpsertDecision {
  const { maxRedisClusters } = bounds.limits;
  if (managedObjects < maxRedisClusters) return decision;
  const message = `This agent's values (limits.maxRedisClusters) allow ${maxRedisClusters} RedisClusters of the hub, and they are here.`;
  return answer(rejected(upsert, 'NOT_PERMITTED_HERE', message));
}

function holdIfDestructive(
  { upsert, bounds, history }: UpsertQuestion,
  decision: Extract<UpsertDecision, { kind: 'UPDATE' }>,
): UpsertDecision {
  const limit = bounds.limits.maxDestructiveChanges;
  const verdict = judgeChange({ upsert, live: decision.live, spec: decision.spec, history, limit });
  if (verdict.kind === 'HELD') return answer(waiting(upsert, 'CHANGE_BREAKER', verdict.message));
  return verdict.kind === 'COUNTS' ? { ...decision, counts: true } : decision;
}

function decideByTruth(question: UpsertQuestion): UpsertDecision {
  const { upsert, live } = question;
  const parsed = parseSpec(upsert);
  if (!parsed.ok) return answer(parsed.outcome);
  const refusal = refuse(question, parsed.spec);
  if (refusal !== undefined) return answer(refusal);
  if (live === undefined) return decideAbsent(upsert, parsed.spec);
  if (live.metadata.deletionTimestamp !== undefined) {
    return answer(waiting(upsert, 'NAME_TAKEN', 'An object of this name is still being deleted.'));
  }
  const held = readHubVersion(live);
  if (held?.hubUid === upsert.hubUid) return decideOwn(upsert, { live, held, spec: parsed.spec });
  return decideForeign(question, live, held, parsed.spec);
}

type ParsedSpec = { readonly ok: true; readonly spec: Spec } | { readonly ok: false; readonly outcome: ObjectOutcome };

function parseSpec(upsert: Upsert): ParsedSpec {
  const no = (code: 'INVALID_INPUT' | 'OBJECT_TOO_LARGE', message: string): ParsedSpec => ({
    ok: false,
    outcome: rejected(upsert, code, message),
  });
  if (Buffer.byteLength(upsert.spec, 'utf8') > MAX_OBJECT_BYTES)
    return no('OBJECT_TOO_LARGE', 'The spec is too large.');
  if (specHash(upsert.spec) !== upsert.specHash) return no('INVALID_INPUT', 'The spec is not the text of its hash.');
  try {
    const spec: unknown = JSON.parse(upsert.spec);
    if (typeof spec === 'object' && spec !== null && !Array.isArray(spec)) return { ok: true, spec: spec as Spec };
  } catch {
    // Said below: the text is no JSON object either way.
  }
  return no('INVALID_INPUT', 'The spec is no JSON object.');
}

function refuse(question: UpsertQuestion, spec: Spec): ObjectOutcome | undefined {
  const { upsert, bounds, tombstone } = question;
  if (upsert.kind !== REDIS_CLUSTER_KIND || upsert.apiVersion !== API_GROUP_VERSION) {
    return rejected(upsert, 'CRD_TOO_OLD', `This agent does not know ${upsert.apiVersion} ${upsert.kind}.`);
  }
  if (tombstone !== undefined) {
    const done = tombstone === 'DELETE' ? 'deleted' : 'let go';
    return rejected(upsert, 'TOMBSTONED', `The hub had this object ${done} here; it is not taken up again.`);
  }
  const forbidden =
    explainForbiddenNamespace(bounds, upsert.namespace) ??
    explainProtectedNamespace(bounds, upsert.namespace) ??
    explainForbiddenSpec(bounds, spec);
  return forbidden === undefined ? undefined : rejected(upsert, 'NOT_PERMITTED_HERE', forbidden);
}

function decideAbsent(upsert: Upsert, spec: Spec): UpsertDecision {
  if (upsert.create) return { kind: 'CREATE', spec, ...withDataSetId(upsert.dataSetId) };
  const message = 'The object was deleted in the member cluster; it is not made again by itself.';
  return answer(outcomeOf(upsert, 'DELETED_LOCALLY', { code: 'DELETED_LOCALLY', message }));
}

interface OwnObject {
  readonly live: KubeObject;
  readonly held: ObjectVersion;
  readonly spec: Spec;
}

function decideOwn(upsert: Upsert, { live, held, spec }: OwnObject): UpsertDecision {
  if (held.hubGeneration > upsert.hubGeneration) {
    const message = `Generation ${held.hubGeneration} is here already, newer than ${upsert.hubGeneration}.`;
    return answer(rejected(upsert, 'GENERATION_AHEAD', message));
  }
  // The data set id is kept as it was fixed: without it in the apply, the annotation would be taken away.
  const kept = live.metadata.annotations?.[ANNOTATION.dataSetId] ?? upsert.dataSetId;
  const update: UpsertDecision = { kind: 'UPDATE', spec, live, ...withDataSetId(kept) };
  if (held.hubGeneration < upsert.hubGeneration) return update;
  if (held.specHash !== upsert.specHash) {
    const message = `Generation ${held.hubGeneration} is here with another spec, which is kept.`;
    return answer({ ...rejected(upsert, 'GENERATION_REUSED', message), specHash: held.specHash });
  }
  const reverts = upsert.driftPolicy === 'Revert' || (upsert.revertFields?.length ?? 0) > 0;
  return reverts ? update : { kind: 'HELD', live, spec };
}

function decideForeign(
  { upsert, liveIsUnclaimed }: UpsertQuestion,
  live: KubeObject,
  held: ObjectVersion | undefined,
  spec: Spec,
): UpsertDecision {
  if (upsert.adopt && (held === undefined || liveIsUnclaimed)) {
    return { kind: 'UPDATE', spec, live, ...withDataSetId(readDataSetId(live)) };
  }
  if (held !== undefined) {
    return answer(waiting(upsert, 'NAME_TAKEN', 'Another object of the hub has this name.'));
  }
  const message = 'An object of this name exists that the hub did not make; adopt it, or choose another name.';
  return answer({ ...rejected(upsert, 'ALREADY_EXISTS', message), retryable: true });
}
