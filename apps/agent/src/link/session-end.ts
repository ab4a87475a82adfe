/** How a session ended, as far as the next one depends on it. */
export type SessionEnd = {
  /** True when it had been welcomed. */
  readonly welcomed: boolean;
  /** For people. */
  readonly reason: string;
} & (
  | /** The connection broke, never came about, or was refused for now. */ { readonly kind: 'LOST' }
    /** The hub asked to come again after so long (Reconnect, Drain). */
  | { readonly kind: 'ASKED'; readonly afterMs: number }
  /** Another process of this agent has the session now. */
  | { readonly kind: 'TAKEN_OVER' }
  /** Approval is still to come. */
  | { readonly kind: 'PENDING'; readonly afterMs: number }
  /** The hub gave an id: dial again, with a Hello. */
  | { readonly kind: 'ENROLLED' }
  /** Nothing changes before a person acts: revoked, token refused, protocol too old. */
  | { readonly kind: 'STUCK'; readonly code: string }
);
