import { Injectable } from '@nestjs/common';
import type { Caller } from '../auth/index.ts';
import type { Node } from './node.model.ts';
import { ApiError } from './api-error.ts';
import { readGlobalId, type NodeType } from './global-id.ts';
import { MAX_PAGE_SIZE } from './page.ts';

type ReadNode = (key: string, caller: Caller) => Promise<Node | null>;

/** Which feature reads which type of node. Features register themselves, so that this file knows none of them. */
@Injectable()
export class NodeRegistry {
  private readonly readers = new Map<string, ReadNode>();

  register(type: NodeType, read: ReadNode): void {
    this.readers.set(type, read);
  }

  /** The object of a global id, or null when there is none that the caller may see. */
  async read(id: string, caller: Caller): Promise<Node | null> {
    const parts = readGlobalId(id);
    const read = parts && this.readers.get(parts.type);
    return read ? read(parts.key, caller) : null;
  }

  /** Several objects in the order of their ids. Throws ApiError BAD_USER_INPUT for more ids than a page may have. */
  async readMany(ids: readonly string[], caller: Caller): Promise<(Node | null)[]> {
    if (ids.length > MAX_PAGE_SIZE) throw new ApiError('BAD_USER_INPUT', `At most ${MAX_PAGE_SIZE} ids at once.`);
    return Promise.all(ids.map((id) => this.read(id, caller)));
  }
}
