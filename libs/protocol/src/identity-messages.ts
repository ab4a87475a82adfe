/** How an agent becomes known to a hub, and how it changes its key: a part of messages.ts. */
import type { Scope } from '#domain';

export interface Enrol {
  readonly token: string;
  /** Raw Ed25519 public key, base64url. */
  readonly publicKey: string;
  readonly fingerprint: string;
  readonly scope: Scope;
  readonly agentVersion: string;
  readonly instanceId: string;
  /** Ed25519 over `enrolSigningInput`: proof that the sender holds the key. */
  readonly signature: string;
}
export interface EnrolPending {
  readonly message: string;
  readonly retryAfterMs: number;
}
export interface Enrolled {
  readonly agentId: string;
  readonly hubEpoch: string;
}
export interface KeyRotation {
  readonly newPublicKey: string;
  /** Signed with the old key over (new key, agent id). */
  readonly signature: string;
}
export interface KeyAccepted {
  readonly publicKey: string;
}
