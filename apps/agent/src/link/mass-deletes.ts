/**
 * Which deletes came all at once (03 rule 2: a bug in the hub is the scenario). A hub lets a few deletes of one agent pass in
 * five minutes without an approval; more of them in one message than this agent takes in that time are no pace but a
 * mass, and none of a mass is carried out before a person has approved it. Taking the first few and refusing the rest
 * would lose exactly those few to every mistake, and more of them every five minutes. Lives as long as one session: in
 * the next the hub sends everything that is not settled together again.
 */
import type { ObjectKey } from '#domain';
import type { Tombstone } from '#protocol';

export class MassDeletes {
  readonly #hubUids = new Set<string>();

  /** All tombstones of one message; those that were carried out before do not count. Returns the objects of a new mass. */
  note(
    tombstones: readonly Tombstone[],
    limit: number,
    isCarriedOut: (hubUid: string) => boolean,
  ): readonly ObjectKey[] {
    const bare = tombstones.filter(
      ({ operation, approval, hubUid }) => operation === 'DELETE' && approval === undefined && !isCarriedOut(hubUid),
    );
    if (bare.length <= limit) return [];
    const added = bare.filter(({ hubUid }) => !this.#hubUids.has(hubUid));
    for (const { hubUid } of added) this.#hubUids.add(hubUid);
    return added.map(({ namespace, name }) => ({ namespace, name }));
  }

  has(hubUid: string): boolean {
    return this.#hubUids.has(hubUid);
  }
}
