/**
 * Which name each hubUid belongs to, kept up to date by the objects that change: asked for every object on every change, it
 * must not look through all of them each time (5,000 objects would cost 25 million looks). Only where two objects carry
 * one hubUid is all of it looked through anew.
 */
import type { KubeObject } from '#domain';
import { readHubVersion } from './hub-version.ts';
import { leaveOutCopies } from './leave-out-copies.ts';

export class CopyBook {
  /** Undefined: to be read anew. */
  #nameOf: Map<string, string> | undefined;
  readonly #hubUidAt = new Map<string, string>();
  readonly #shared = new Set<string>();

  forget(): void {
    this.#nameOf = undefined;
  }

  /** The name of the object that the hub means. `readAll`: every object here by its name. */
  nameOf(hubUid: string, readAll: () => ReadonlyMap<string, KubeObject>): string | undefined {
    this.#nameOf ??= this.#read(readAll());
    return this.#nameOf.get(hubUid);
  }

  /** The object of this name has changed, or is gone. */
  changed(name: string, object: KubeObject | undefined): void {
    if (this.#nameOf === undefined) return;
    const before = this.#hubUidAt.get(name);
    const now = object === undefined ? undefined : readHubVersion(object)?.hubUid;
    const isShared = [before, now].some((hubUid) => hubUid !== undefined && this.#shared.has(hubUid));
    const isTaken = now !== undefined && (this.#nameOf.get(now) ?? name) !== name;
    if (isShared || isTaken) return this.forget();
    if (before !== undefined) this.#nameOf.delete(before);
    this.#hubUidAt.delete(name);
    if (now === undefined) return;
    this.#nameOf.set(now, name);
    this.#hubUidAt.set(name, now);
  }

  #read(objects: ReadonlyMap<string, KubeObject>): Map<string, string> {
    this.#hubUidAt.clear();
    this.#shared.clear();
    const seen = new Set<string>();
    const nameOfObject = new Map<KubeObject, string>();
    for (const [name, object] of objects) {
      nameOfObject.set(object, name);
      const hubUid = readHubVersion(object)?.hubUid;
      if (hubUid === undefined) continue;
      this.#hubUidAt.set(name, hubUid);
      if (seen.has(hubUid)) this.#shared.add(hubUid);
      seen.add(hubUid);
    }
    const meant = leaveOutCopies(objects.values());
    return new Map(meant.map((object) => [readHubVersion(object)?.hubUid ?? '', nameOfObject.get(object) ?? '']));
  }
}
