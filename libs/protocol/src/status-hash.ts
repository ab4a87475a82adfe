/**
 * Hashes of what a status item says. The agent's own (`itemHash`) covers all of it but the moving numbers, so that a
 * settled object has one hash for ever; the hub stores it unread, and the sum of all of them proves in one frame that
 * hub and agent hold the same. It covers identity, name and generation too, so the sum needs nothing beside it.
 */
import { canonicalJson, sha256Hex } from './canonical-json.ts';
import { sumDigests } from './digest.ts';
import type { StatusItem } from './messages.ts';

/** 32 hex digits of the SHA-256 over the RFC 8785 JSON of the item without `numbers`; goes with it as `hash`. */
export function itemHash(item: StatusItem): string {
  const { numbers: _numbers, hash: _hash, ...told } = item;
  return sha256Hex(canonicalJson(told)).slice(0, 32);
}

/** `StatusBatch.statusDigest`: the sum modulo 2^128 of the hashes of all items that are not gone. */
export const statusDigestOf = (hashes: Iterable<string>): string => sumDigests(hashes);

/**
 * What a hub tells changes by when the agent gave no hash: SHA-256 hex over the RFC 8785 JSON of the item without
 * `numbers` and `details`, which agents of before did not know.
 */
export function statusHash(item: StatusItem): string {
  const { numbers: _numbers, details: _details, hash: _hash, ...states } = item;
  return sha256Hex(canonicalJson(states));
}
