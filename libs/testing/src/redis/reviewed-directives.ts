/**
 * Directives that a user who has no right to make pods may set, each looked at: it reads no file of the user's choice, loads
 * no code, opens no port, and turns no protection of the pod or of the copies off (unsafe-config.ts refuses some values of it).
 * Of CONFIG GET * of Redis 7.0, 8.0, 8.6 and Valkey 8.1, 9.1. One of a newer engine belongs here, or on a list of refusals.
 */
export const REVIEWED_DIRECTIVES: ReadonlySet<string> = new Set(
  `
  acl-pubsub-default acllog-max-len active-defrag-cycle-max active-defrag-cycle-min active-defrag-cycle-us
  active-defrag-ignore-bytes active-defrag-max-scan-fields active-defrag-threshold-lower
  active-defrag-threshold-upper active-expire-effort activedefrag activerehashing always-show-logo
  aof-disable-auto-gc aof-load-corrupt-tail-max-size aof-load-truncated aof-rewrite-incremental-fsync
  aof-timestamp-enabled appendfsync auto-aof-rewrite-min-size auto-aof-rewrite-percentage availability-zone
  busy-reply-threshold client-output-buffer-limit client-query-buffer-limit commandlog-execution-slower-than
  commandlog-large-reply-max-len commandlog-large-request-max-len commandlog-reply-larger-than
  commandlog-request-larger-than commandlog-slow-execution-max-len databases disable-thp
  dual-channel-replication-enabled dynamic-hz extended-redis-compatibility hash-max-listpack-entries
  hash-max-listpack-value hash-max-ziplist-entries hash-max-ziplist-value hash-seed hide-user-data-from-log
  hll-sparse-max-bytes hz io-threads io-threads-do-reads jemalloc-bg-thread key-memory-histograms
  latency-monitor-threshold latency-tracking latency-tracking-info-percentiles lazyfree-lazy-eviction
  lazyfree-lazy-expire lazyfree-lazy-server-del lazyfree-lazy-user-del lazyfree-lazy-user-flush lfu-decay-time
  lfu-log-factor list-compress-depth list-max-listpack-size list-max-ziplist-size log-format
  log-timestamp-format loglevel lookahead lua-time-limit max-new-connections-per-cycle
  max-new-tls-connections-per-cycle maxclients maxmemory maxmemory-clients maxmemory-eviction-tenacity
  maxmemory-policy maxmemory-samples mptcp no-appendfsync-on-rewrite notify-keyspace-events
  prefetch-batch-max-size proto-max-bulk-len rdb-del-sync-files rdb-save-incremental-fsync rdb-version-check
  rdbchecksum rdbcompression repl-backlog-size repl-backlog-ttl repl-disable-tcp-nodelay repl-diskless-load
  repl-diskless-sync repl-diskless-sync-delay repl-diskless-sync-max-replicas repl-mptcp
  repl-ping-replica-period repl-ping-slave-period repl-timeout replica-full-sync-buffer-limit
  replica-ignore-disk-write-errors replica-ignore-maxmemory replica-lazy-flush replica-serve-stale-data
  sanitize-dump-payload save set-max-intset-entries set-max-listpack-entries set-max-listpack-value
  set-proc-title shutdown-timeout slave-ignore-maxmemory slave-lazy-flush slave-serve-stale-data
  slot-migration-max-failover-repl-bytes slowlog-log-slower-than slowlog-max-len socket-mark-id
  stop-writes-on-bgsave-error stream-idmp-duration stream-idmp-maxsize stream-node-max-bytes
  stream-node-max-entries tcp-backlog tcp-keepalive timeout tracking-table-max-keys
  vset-force-single-threaded-execution zset-max-listpack-entries zset-max-listpack-value
  zset-max-ziplist-entries zset-max-ziplist-value
  `
    .trim()
    .split(/\s+/),
);
