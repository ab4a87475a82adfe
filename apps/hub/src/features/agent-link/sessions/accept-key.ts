/**
 * Takes an agent's new key. Any key that is accepted now may sign it, since the answer to an earlier rotation may have been
 * lost, and the key made for that one with it; else such an agent could never rotate again. The current key signed
 * with itself is its first use: from then on the one before it is accepted no more, however long the session lives.
 */
import { keyRotationSigningInput, verifyInput } from '#protocol';
import type { KeyRotation } from '#protocol';

import type { SessionRepository } from './session.repository.ts';

const KEY_BYTES = 32;

/** True when the agent may sign with the new key from now on; the same after a repeat. */
export async function acceptKey(
  sessions: Pick<SessionRepository, 'findAgent' | 'rotateKey' | 'forgetPreviousKey'>,
  { agentId, sessionNo }: { readonly agentId: string; readonly sessionNo: number },
  { newPublicKey, signature }: KeyRotation,
): Promise<boolean> {
  const agent = await sessions.findAgent(agentId);
  if (!agent?.publicKey) return false;
  const bytes = keyRotationSigningInput(newPublicKey, agentId);
  const newKey = Buffer.from(newPublicKey, 'base64url');
  const accepted = [agent.publicKey, ...(agent.previousPublicKey ? [agent.previousPublicKey] : [])];
  const signer = accepted.find((key) => verifyInput(key.toString('base64url'), bytes, signature));
  if (!signer || newKey.length !== KEY_BYTES) return false;
  if (!agent.publicKey.equals(newKey)) return sessions.rotateKey(agentId, sessionNo, { signer, newKey });
  if (signer.equals(newKey)) await sessions.forgetPreviousKey(agentId, newKey);
  return true;
}
