/**
 * An index over cached objects: everything of one data set in one namespace, without looking through everything of all
 * the others. Keys are `namespace/hash of the data set`.
 */
import { LABEL } from '#domain';
import type { ObjectMeta } from '#domain';

export const dataSetKey = (namespace: string, hash: string): string => `${namespace}/${hash}`;

/** Of an object found by the data set label, which therefore has it. */
export const dataSetKeyOf = (object: Pick<ObjectMeta, 'namespace' | 'labels'>): string =>
  dataSetKey(object.namespace ?? '', object.labels?.[LABEL.dataSet] ?? '');

export class ObjectsByDataSet<T> {
  readonly #groups = new Map<string, Map<string, T>>();

  set(group: string, id: string, value: T): void {
    const present = this.#groups.get(group);
    if (present === undefined) this.#groups.set(group, new Map([[id, value]]));
    else present.set(id, value);
  }

  delete(group: string, id: string): void {
    const present = this.#groups.get(group);
    if (present === undefined) return;
    present.delete(id);
    if (present.size === 0) this.#groups.delete(group);
  }

  get(group: string): T[] {
    return [...(this.#groups.get(group)?.values() ?? [])];
  }

  /** Groups of which any object passes the test. */
  groupsWith(test: (value: T) => boolean): string[] {
    const found: string[] = [];
    for (const [group, values] of this.#groups) if ([...values.values()].some(test)) found.push(group);
    return found;
  }
}
