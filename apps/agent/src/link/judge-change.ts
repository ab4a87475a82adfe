/**
 * Whether a change of a spec that the hub wants may be written now. One that can lose data or stop Redis
 * (list-destructive-changes.ts) counts: no more RedisClusters than the agent's values say may have one in five minutes, and
 * none of more that come at once. What is held stays held, over a restart too, until a person in the member cluster lets this very
 * spec through by an annotation, which the hub cannot write. Time alone never releases it: a hub that is wrong or taken over is the
 * scenario, and somebody must have looked. A change that kubectl makes never comes here.
 */
import { ANNOTATION, formatObjectKey } from '#domain';
import type { KubeObject } from '#domain';
import { withValuesAt } from '#kube';
import type { Upsert } from '#protocol';
import type { Spec } from './decide-upsert.ts';
import { isAtOrUnder } from './is-at-or-under.ts';
import { listDestructiveChanges } from './list-destructive-changes.ts';
import { listForeignFields } from './list-foreign-fields.ts';

export const CHANGE_WINDOW_MS = 5 * 60_000;
/** Of a sentence that lists changes: a list of users may be long. */
const MAX_LISTED_CHARACTERS = 300;

export interface ChangeHistory {
  /** By Kubernetes uid: when a destructive change of this object was let pass. */
  readonly recentChangesMs: ReadonlyMap<string, number>;
  /** By Kubernetes uid: what is held. */
  readonly heldChanges: ReadonlyMap<string, { readonly specHash: string }>;
  /** It came with more others than this agent takes (mass-changes.ts). */
  readonly isOfMass: boolean;
  readonly nowMs: number;
}

export interface ChangeQuestion {
  readonly upsert: Upsert;
  readonly live: KubeObject;
  readonly spec: Spec;
  readonly history: ChangeHistory;
  readonly limit: number;
}

export type ChangeVerdict =
  | { readonly kind: 'FREE' }
  /** It counts from now on. */
  | { readonly kind: 'COUNTS' }
  | { readonly kind: 'HELD'; readonly message: string };

export function judgeChange(question: ChangeQuestion): ChangeVerdict {
  const { upsert, live, spec } = question;
  const changes = destructiveChangesOf(upsert, live, spec);
  if (changes.length === 0 || isLetThrough(upsert, live)) return { kind: 'FREE' };
  const because = explainHold(question);
  if (because === undefined) return { kind: 'COUNTS' };
  return { kind: 'HELD', message: describe(upsert, changes, because) };
}

/** Of what would be written: fields that somebody here has taken over stay as they are, unless the hub takes them back. */
export function destructiveChangesOf(upsert: Upsert, live: KubeObject, spec: Spec): readonly string[] {
  const takesBack = (path: string): boolean =>
    upsert.driftPolicy === 'Revert' || (upsert.revertFields ?? []).some((field) => isAtOrUnder(path, field));
  const kept = listForeignFields(live)
    .map(({ path }) => path)
    .filter((path) => !takesBack(path));
  const { spec: after } = withValuesAt({ spec }, live, kept);
  return listDestructiveChanges(live['spec'], after);
}

export const isLetThrough = ({ specHash }: Upsert, { metadata }: KubeObject): boolean =>
  metadata.annotations?.[ANNOTATION.letThrough] === specHash;

function explainHold({ upsert, live, history, limit }: ChangeQuestion): string | undefined {
  const { recentChangesMs, heldChanges, isOfMass, nowMs } = history;
  const uid = live.metadata.uid ?? '';
  if (isOfMass) return `more than ${limit} such changes came at once`;
  if (heldChanges.get(uid)?.specHash === upsert.specHash) return 'it was held before, and nobody has let it through';
  const others = [...recentChangesMs].filter(([of, at]) => of !== uid && Math.abs(nowMs - at) < CHANGE_WINDOW_MS);
  return others.length < limit ? undefined : `${others.length} RedisClusters were changed so within 5 minutes`;
}

function describe(upsert: Upsert, changes: readonly string[], because: string): string {
  const list = changes.join('; ');
  const shown = list.length > MAX_LISTED_CHARACTERS ? `${list.slice(0, MAX_LISTED_CHARACTERS)}…` : list;
  return (
    `This change can lose data or stop Redis (${shown}), and it waits: ${because} (limits.maxDestructiveChanges). Nothing was changed. ` +
    `If it is meant, somebody with rights in this member cluster lets it through: kubectl annotate arc -n ${upsert.namespace} ${upsert.name} ` +
    `${ANNOTATION.letThrough}=${upsert.specHash} --overwrite. If nobody asked for ${formatObjectKey(upsert)} to change so, the hub is wrong.`
  );
}
