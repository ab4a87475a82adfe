/**
 * Which destructive changes came all at once: more in one message than this agent takes in five minutes. As with deletes
 * (mass-deletes.ts) none of a mass is carried out: taking the first few would lose exactly those few to every mistake. They
 * are held, which the agent remembers over a restart, so this book is needed only while the message is worked off.
 */
import type { KubeObject, ObjectKey } from '#domain';
import type { Upsert } from '#protocol';
import { readHubVersion } from './hub-version.ts';
import { destructiveChangesOf, isLetThrough } from './judge-change.ts';

export interface MassChange {
  readonly upsert: Upsert;
  readonly live: KubeObject;
}

export class MassChanges {
  #hubUids: ReadonlySet<string> = new Set();

  /**
   * All upserts of one message, with what the cache says is here: what is really there is read before each write. Returns
   * what belongs to a mass.
   */
  note(
    upserts: readonly Upsert[],
    limit: number,
    find: (key: ObjectKey) => KubeObject | undefined,
  ): readonly MassChange[] {
    const found = upserts.length <= limit ? [] : upserts.flatMap((upsert) => toMassChange(upsert, find(upsert)));
    const mass = found.length <= limit ? [] : found;
    this.#hubUids = new Set(mass.map(({ upsert }) => upsert.hubUid));
    return mass;
  }

  has(hubUid: string): boolean {
    return this.#hubUids.has(hubUid);
  }
}

const toMassChange = (upsert: Upsert, live: KubeObject | undefined): MassChange[] =>
  live !== undefined && isDestructive(upsert, live) ? [{ upsert, live }] : [];

function isDestructive(upsert: Upsert, live: KubeObject): boolean {
  if (isLetThrough(upsert, live) || !mayBeWritten(upsert, live)) return false;
  try {
    return destructiveChangesOf(upsert, live, JSON.parse(upsert.spec) as Readonly<Record<string, unknown>>).length > 0;
  } catch {
    return false; // No JSON: it is refused when its turn comes.
  }
}

/** What is refused all the same (an object of somebody else, an older generation) waits for nobody. */
function mayBeWritten(upsert: Upsert, live: KubeObject): boolean {
  const held = readHubVersion(live);
  if (held?.hubUid !== upsert.hubUid) return upsert.adopt;
  const reverts = upsert.driftPolicy === 'Revert' || (upsert.revertFields?.length ?? 0) > 0;
  return reverts ? held.hubGeneration <= upsert.hubGeneration : held.hubGeneration < upsert.hubGeneration;
}
