/**
 * Directives that a running server refuses to change ("can't set immutable config") and that a user may set: they take
 * effect at the next start. Measured on Redis 7.0, 8.0, 8.6 and Valkey 8.1, 9.1 by setting every name of CONFIG GET *.
 * Some engines take one of them at run time (`io-threads` in Valkey 9): treated as a restart there too.
 */
export const RESTART_ONLY_CONFIG: ReadonlySet<string> = new Set([
  'always-show-logo',
  'databases',
  'disable-thp',
  'hash-seed',
  'io-threads',
  'io-threads-do-reads',
  'mptcp',
  'rdbchecksum',
  'repl-mptcp',
  'set-proc-title',
  'socket-mark-id',
  'tcp-backlog',
]);

/** Unknown to render version 1: there they are no part of the restart hash, or an upgrade of the agent would restart pods. */
export const RESTART_ONLY_SINCE_RENDER_VERSION_2: ReadonlySet<string> = new Set(['hash-seed', 'mptcp', 'repl-mptcp']);
