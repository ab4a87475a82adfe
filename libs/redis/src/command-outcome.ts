/**
 * What a command that changes something came to. `REFUSED` means a precondition, read again on the server right
 * before, no longer held, or the server said no: nothing was changed, and the next pass plans from what is then true.
 */
export type CommandOutcome =
  | { readonly outcome: 'DONE' }
  /** The server was already as wanted. */
  | { readonly outcome: 'UNCHANGED' }
  | { readonly outcome: 'REFUSED'; readonly code: string; readonly message: string };

export const done: CommandOutcome = { outcome: 'DONE' };
export const unchanged: CommandOutcome = { outcome: 'UNCHANGED' };
export const refused = (code: string, message: string): CommandOutcome => ({ outcome: 'REFUSED', code, message });
