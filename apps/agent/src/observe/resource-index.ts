/**
 * Which RedisCluster a child belongs to: by the hash of the data set, never by name, since a new object of an old name
 * is not the owner of what the old one left behind.
 */
import type { RedisClusterObject } from '#domain';
import { dataSetKey } from './objects-by-data-set.ts';

export class ResourceIndex {
  readonly #hashOf: (resource: RedisClusterObject) => string;
  readonly #keyByDataSet = new Map<string, string>();
  readonly #dataSetByKey = new Map<string, string>();

  constructor(hashOf: (resource: RedisClusterObject) => string) {
    this.#hashOf = hashOf;
  }

  /** `key` is `namespace/name`. */
  put(key: string, resource: RedisClusterObject): void {
    const dataSet = dataSetKey(resource.metadata.namespace ?? '', this.#hashOf(resource));
    if (this.#dataSetByKey.get(key) === dataSet) return;
    this.remove(key);
    this.#dataSetByKey.set(key, dataSet);
    this.#keyByDataSet.set(dataSet, key);
  }

  remove(key: string): void {
    const dataSet = this.#dataSetByKey.get(key);
    this.#dataSetByKey.delete(key);
    if (dataSet !== undefined && this.#keyByDataSet.get(dataSet) === key) this.#keyByDataSet.delete(dataSet);
  }

  keyOf(dataSet: string): string | undefined {
    return this.#keyByDataSet.get(dataSet);
  }

  dataSetOf(key: string): string | undefined {
    return this.#dataSetByKey.get(key);
  }
}
