/**
 * Global ids: base64url of `Type:key`. They are opaque to clients, and the type inside lets `node(id)` find the owner
 * without a look-up. An id of another type or shape decodes to undefined, so that a wrong id reads as "not found" and
 * never as an internal error.
 */
export type NodeType = 'RedisCluster' | 'MemberCluster' | 'Agent' | 'Project' | 'AuditEntry' | 'FleetEvent';

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

export const encodeGlobalId = (type: NodeType, key: string): string =>
  Buffer.from(`${type}:${key}`, 'utf8').toString('base64url');

/** Of base64url: the longest type and a UUID have 68. */
const MAX_LENGTH = 128;

/** Type and key of an id, or undefined when it is none of ours. */
export function readGlobalId(id: string): { readonly type: string; readonly key: string } | undefined {
  if (id.length > MAX_LENGTH) return undefined;
  const text = Buffer.from(id, 'base64url').toString('utf8');
  const colon = text.indexOf(':');
  return colon > 0 ? { type: text.slice(0, colon), key: text.slice(colon + 1) } : undefined;
}

/** The uuid inside an id of the given type, or undefined. */
export function decodeGlobalId(type: NodeType, id: string): string | undefined {
  const parts = readGlobalId(id);
  return parts?.type === type && UUID.test(parts.key) ? parts.key : undefined;
}
