/**
 * Hash of what a status item says, states only: moving numbers are left out, so that a settled object has one hash for
 * ever and hub and agent can compare their status digests; details too, which an older hub does not know.
 */
import { canonicalJson, sha256Hex } from './canonical-json.ts';
import type { DigestEntry } from './digest.ts';
import type { StatusItem } from './messages.ts';

/** SHA-256 hex over the RFC 8785 JSON of the item without `numbers` and `details`. */
export function statusHash(item: StatusItem): string {
  const { numbers: _numbers, details: _details, ...states } = item;
  return sha256Hex(canonicalJson(states));
}

/** The item's entry in the status digest. Objects that no hub pushed are known by their Kubernetes uid. */
export const statusDigestEntry = (item: StatusItem): DigestEntry => ({
  hubUid: item.hubUid ?? `uid:${item.uid}`,
  hubGeneration: item.observedHubGeneration ?? 0,
  specHash: statusHash(item),
});
