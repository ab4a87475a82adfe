/**
 * Numbers of RedisClusters that another agent of this member cluster pushed for its hub and that this one operates, since
 * it was given their namespace (ConfigMap atoll-scope). Their status is that agent's to tell, which reads it from the
 * object; their numbers are in no object, and only who asks Redis has them. An agent that operates one no more says so
 * with no numbers, so that old ones are not taken for new.
 */
import { formatObjectKey } from '#domain';
import type { ObjectKey } from '#domain';
import type { GuestItem } from '#protocol';
import { readHubVersion } from './hub-version.ts';
import type { LinkParts } from './ports.ts';

export type GuestParts = Pick<LinkParts, 'guests' | 'numbersOf'>;

export class GuestNumbers {
  readonly #parts: GuestParts;
  readonly #told = new Map<string, string>();

  constructor(parts: GuestParts) {
    this.#parts = parts;
  }

  /** All that may have something to tell. */
  keys(): ObjectKey[] {
    return (this.#parts.guests?.list() ?? []).map(({ metadata: { namespace = '', name } }) => ({ namespace, name }));
  }

  /** What the hub does not know yet; with `everything` also what it knows. */
  tell(key: ObjectKey, everything: boolean): GuestItem | undefined {
    const text = formatObjectKey(key);
    const before = this.#told.get(text);
    this.#told.delete(text);
    const hubUid = this.#hubUidOf(key);
    if (hubUid === undefined) return undefined;
    const numbers = this.#parts.numbersOf(key);
    const now = numbers === undefined ? undefined : JSON.stringify(numbers);
    if (now !== undefined) this.#told.set(text, now);
    const isNews = now !== before || (everything && now !== undefined);
    return isNews ? { hubUid, namespace: key.namespace, name: key.name, numbers: numbers ?? {} } : undefined;
  }

  #hubUidOf(key: ObjectKey): string | undefined {
    const object = this.#parts.guests?.get(key);
    return object === undefined ? undefined : readHubVersion(object)?.hubUid;
  }
}
