/**
 * The parts of one inventory until its last one. Kept until then, so what an agent may have kept here is bounded by what
 * it takes: a hostile one would else have hundreds of megabytes of names held, and so would each of its likes.
 */
import type { InventoryChunk } from '#protocol';

type InventoryObject = InventoryChunk['objects'][number];

/** Of texts: some 50,000 objects with names of the usual length, ten times what one agent is meant for. */
export const MAX_INVENTORY_CHARACTERS = 16 * 1024 * 1024;
/** What an object costs beside its texts. */
const OBJECT_CHARACTERS = 100;

export class InventoryParts {
  readonly #objects: InventoryObject[] = [];
  #characters = 0;

  get objects(): readonly InventoryObject[] {
    return this.#objects;
  }

  /** Throws when there is more than any agent has. */
  add(objects: readonly InventoryObject[]): void {
    for (const object of objects) {
      this.#characters += sizeOf(object);
      if (this.#characters > MAX_INVENTORY_CHARACTERS) throw new Error('the inventory has no end');
      this.#objects.push(object);
    }
  }
}

const sizeOf = ({ hubUid, specHash, namespace, name }: InventoryObject): number =>
  hubUid.length + specHash.length + namespace.length + name.length + OBJECT_CHARACTERS;
