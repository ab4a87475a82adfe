/** An agent as the handshake knows it: who it is, where it belongs, which keys it may sign with. */
export interface AgentRow {
  readonly id: string;
  readonly memberClusterId: string;
  readonly scopeKind: 'CLUSTER' | 'NAMESPACE';
  readonly scopeNamespace: string | null;
  readonly publicKey: Buffer | null;
  readonly previousPublicKey: Buffer | null;
  readonly fingerprint: string | null;
  readonly state: 'PENDING_TOKEN' | 'PENDING_APPROVAL' | 'ACTIVE' | 'QUARANTINED' | 'REVOKED';
}
