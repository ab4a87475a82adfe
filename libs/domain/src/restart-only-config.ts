/**
 * Directives that a running server refuses to change ("can't set immutable config") and that a user may set: they take
 * effect at the next start. Measured on 7.0.15 by setting every name; later lines add none that is not listed.
 */
export const RESTART_ONLY_CONFIG: ReadonlySet<string> = new Set([
  'always-show-logo',
  'databases',
  'disable-thp',
  'io-threads',
  'io-threads-do-reads',
  'rdbchecksum',
  'set-proc-title',
  'socket-mark-id',
  'tcp-backlog',
]);
