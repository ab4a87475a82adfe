/**
 * The startup guard: the entrypoint of every data pod. It decides whether this process may start as primary, from what
 * Sentinel or the peers say and from what lies on the disk, and then becomes redis-server. Invariant: an empty or
 * outdated process never starts as primary, so it can never erase its replicas (measured without it: 9,998 keys → 0 on
 * both replicas after a restart of one second). It is the entrypoint and no init container, because those do not run
 * again when a container crashes; it works with the agent away.
 *
 * In this order: Standalone, and no second pod answers → start. The Sentinel majority, or without Sentinel the peers, name another primary → start
 * as its replica. They name me, I have data, no failover is on → start as primary. Anything else → wait as replica of
 * an address that refuses, until Sentinel or the agent says more.
 *
 * Where Sentinel names me but I may not start (empty, or a failover is on), the port stays closed for PATIENCE_S, its
 * down-after and 10 s: to Sentinel that is a death, and it fails over within its down-after (5 s), while a master that
 * answers as a replica is given up only 20 s later; the agent has its proof of death too. Then the answer is another
 * primary. In the same way a named primary that does not answer is given the time to be failed over from: a replica that
 * follows a dead address is unknown to Sentinel and would stay so for ever.
 *
 * Without Sentinel a lone primary among the peers may be a deposed one that does not know it yet. So the pod that the
 * record names never follows one over its own data, and a pod that others follow never follows one at all, or they would
 * get its copy and lose what is later: it waits, and the agent decides by their histories.
 *
 * Protected directives may be set, since the agent changes dbfilename for the length of one BGSAVE to set aside what the
 * loser of a split brain holds. Only the operator's user may use CONFIG at all.
 */
import { WAITING_PRIMARY_HOST, WAITING_PRIMARY_PORT } from '#domain';

const SCRIPT = String.raw`#!/bin/sh
# Usage: start-redis.sh. Exit codes: 64 no settings, 65 no credentials, 66 the data folder cannot be prepared,
# 67 no room for a copy beside what was set aside.
set -u
umask 077
. /etc/atoll/scripts/credentials.sh
. /etc/atoll/scripts/data.sh
. /etc/atoll/scripts/config.sh

MODE=$(setting MODE)
if [ -z "$MODE" ] || [ -z "$POD_IP" ]; then
  say "settings or pod address are missing"
  exit 64
fi
require_credentials
rm -f "$STATE/ready"
# A Standalone has no other to copy from, and whom the record names is whom the others copy from: what they have is all.
case $MODE:$POD_NAME in
  Standalone:* | "Replication:$(setting RECORDED_PRIMARY)") ;;
  *) set_left_aside || { say "the old files on this volume cannot be set aside"; exit 66; } ;;
esac

role=waiting primary_host=@WAITING_HOST@ primary_port=@WAITING_PORT@ silent_host=
why="nobody names a primary"

become_replica() { role=replica primary_host=$1 primary_port=$2 why=$3; }
become_primary() { role=primary why=$1; }

# Prints "IP PORT FLAGS" per Sentinel that knows the master, "none" per one that answers and does not.
read_sentinels() {
  for file in "$STATE"/answer.*; do
    awk '
      NR == 1 { if ($0 != "OK") exit; ok = 1; next }
      NR == 2 && /^ERR No such master/ { print "none"; exit }
      NR % 2 == 0 { name = $0; next }
      { value[name] = $0 }
      END { if (ok && value["ip"] != "") print value["ip"], value["port"], value["flags"] }
    ' "$file"
  done
}

# One round. 0: decided. 1: ask again, a failover is on or due. 2: ask again, too few answer.
decide_by_sentinels() {
  silent_host=
  majority=$(($(setting SENTINEL_PODS) / 2 + 1))
  ask_all "$(setting SENTINEL_SET)" "$(setting SENTINEL_PODS)" 26379 "SENTINEL MASTER $(setting MASTER_NAME)"
  views=$(read_sentinels)
  answers=$(printf '%s\n' "$views" | grep -c .)
  if [ "$answers" -lt "$majority" ]; then
    why="only $answers of $(setting SENTINEL_PODS) Sentinels answer"
    return 2
  fi
  if [ "$(printf '%s\n' "$views" | grep -c '^none$')" -ge "$majority" ]; then
    why="the Sentinels monitor no primary yet"
    return 0
  fi
  top=$(printf '%s\n' "$views" | grep -v '^none$' | cut -d ' ' -f 1,2 | sort | uniq -c | sort -rn | sed -n '1s/^ *//p')
  agreed=$(printf '%s' "$top" | cut -d ' ' -f 1)
  named_host=$(printf '%s' "$top" | cut -d ' ' -f 2)
  if [ "$agreed" -lt "$majority" ]; then
    why="the Sentinels disagree"
    return 1
  fi
  if [ "$named_host" != "$POD_IP" ]; then
    named_port=$(printf '%s' "$top" | cut -d ' ' -f 3)
    if [ "$(ask "$named_host" "$named_port" ROLE | sed -n 2p)" = master ]; then
      become_replica "$named_host" "$named_port" "the Sentinel majority names it"
      return 0
    fi
    silent_host=$named_host
    why="the Sentinel majority names $named_host, which does not answer as primary"
    return 1
  fi
  if printf '%s\n' "$views" | grep -Eq 'failover_in_progress|o_down'; then
    why="the Sentinels are failing over from this pod"
    return 1
  fi
  if has_current_data; then
    become_primary "the Sentinel majority names this pod, and it has its data"
    return 0
  fi
  why="the Sentinel majority names this pod, but it is empty"
  return 1
}

# Prints "master IP" or "slave HOST" per peer that answers.
read_peers() {
  for file in "$STATE"/answer.*; do
    awk '
      NR == 1 { if ($0 != "OK") exit; next }
      NR == 2 { role = $0; next }
      NR == 3 { host = $0 }
      match($0, / laddr=[^ ]+/) {
        own = substr($0, RSTART + 7, RLENGTH - 7)
        sub(/:[0-9]+$/, "", own)
        gsub(/[\[\]]/, "", own)
      }
      END {
        if (role == "master" && own != "" && own !~ /^127\./) print "master", own
        if (role == "slave") print "slave", host
      }
    ' "$file"
  done
}

decide_by_peers() {
  peers=$(($(setting REDIS_PODS) - 1))
  if [ "$peers" -lt 1 ]; then
    why="there is no peer to ask"
    return 0
  fi
  ask_all "$(setting REDIS_SET)" "$(setting REDIS_PODS)" 6379 ROLE "CLIENT INFO"
  views=$(read_peers)
  primaries=$(printf '%s\n' "$views" | grep -c '^master ')
  if [ "$primaries" -eq 1 ] && [ "$(setting RECORDED_PRIMARY)" = "$POD_NAME" ] && has_current_data; then
    why="a peer is primary, but the record names this pod, which has its data"
    return 0
  fi
  followers=$(printf '%s\n' "$views" | grep -c -x -F "slave $POD_IP")
  if [ "$primaries" -eq 1 ] && [ "$followers" -gt 0 ]; then
    why="a peer is primary, but others follow this pod"
    return 0
  fi
  if [ "$primaries" -eq 1 ]; then
    become_replica "$(printf '%s\n' "$views" | sed -n 's/^master //p')" 6379 "it is the only primary among the peers"
    return 0
  fi
  if [ "$primaries" -gt 1 ]; then
    why="$primaries peers are primary"
    return 0
  fi
  answers=$(printf '%s\n' "$views" | grep -c .)
  if [ "$answers" -lt "$peers" ]; then
    why="only $answers of $peers peers answer"
    return 2
  fi
  waiting=$(printf '%s\n' "$views" | grep -c -x -F "slave @WAITING_HOST@")
  if [ "$followers" -gt 0 ] && [ $((followers + waiting)) -eq "$answers" ] && has_current_data; then
    become_primary "every peer answers, nobody follows another, and this pod has its data"
  else
    why="no peer is primary, and not all follow this pod and its data"
  fi
  return 0
}

# Asks until a round decides, or the time is up. Where too few answer it gives up sooner, at once when it has nothing to
# lose: a new data set waits for the agent anyway.
decide() {
  if has_current_data; then silent_limit=10; else silent_limit=3; fi
  deadline=$(($(date +%s) + $(setting PATIENCE_S))) silent=0 told=
  while :; do
    "$1"
    case $? in
      0) return ;;
      1) pause=1 ;;
      *) silent=$((silent + 1)); pause=0.5 ;;
    esac
    if [ "$silent" -ge "$silent_limit" ]; then return; fi
    if [ "$(date +%s)" -ge "$deadline" ]; then break; fi
    if [ "$why" != "$told" ]; then say "not starting yet: $why"; told=$why; fi
    sleep "$pause"
  done
  if [ -n "$silent_host" ]; then become_replica "$silent_host" "$named_port" "$why"; fi
}

# Replicas are there already: the mode was raised, and this pod's copy of the settings still lags (up to two minutes). An
# empty start as primary would erase them. A second pod that refuses the password, or is busy, is a second pod.
decide_alone() {
  if [ -z "$(ask "$(setting REDIS_SET)-1.$(setting PODS_SERVICE)" 6379 ROLE)" ]; then
    become_primary "the mode is Standalone"
  else
    why="the settings say Standalone, but a second pod answers"
  fi
}

case $MODE in
  Standalone) decide_alone ;;
  Sentinel) decide decide_by_sentinels ;;
  *) decide decide_by_peers ;;
esac
rm -f "$STATE"/answer.*

# A maxmemory in bytes that was meant for a larger memory limit than this container has: its share of its own limit holds
# until the pod is restarted with the new one. MAXMEMORY is 75 % of the limit; nothing above 90 % is ever declared.
within_limit() {
  awk -v own="$MAXMEMORY" '$1 == "maxmemory" && $2 ~ /^[0-9]+$/ && own > 0 && $2 > own * 1.2 + 1 { next } { print }'
}

# Sentinel takes a replica that never had a copy when it knows no better one (seen: 0 of 5,000 keys), and the old primary
# is erased by it. So one that is to keep data and has none is no choice until it was linked once.
held=
case $role in
  primary) ;;
  replica) if [ "$(setting PERSISTENCE)" = on ] && { ! has_current_data || is_noted_late; }; then held=yes; fi ;;
  *) if [ -n "$(returning_stamp)" ] && ! has_current_data; then held=yes; fi ;;
esac
printf '%s\n' "$held" > "$STATE/held"

if [ "$role" = replica ] && [ -z "$silent_host" ]; then set_newer_aside; fi
appendonly=$(choose_appendonly) || { say "the data folder cannot be prepared"; exit 66; }
redis_acl > "$STATE/users.acl"
{
  printf 'maxmemory %s\n' "$MAXMEMORY"
  usable_config /etc/atoll/config/redis.conf | within_limit
  printf '%s\n' "$appendonly" 'port 6379' 'protected-mode no' 'daemonize no' 'dir /data' 'dbfilename dump.rdb' \
    'appenddirname appendonlydir' 'appendfilename appendonly.aof' "aclfile $STATE/users.acl" \
    "replica-announce-ip $POD_IP" 'replica-announce-port 6379' 'masteruser replication' \
    'enable-protected-configs yes'
  printf 'masterauth "%s"\n' "$(quoted replication)"
  if [ -n "$held" ]; then printf 'replica-priority 0\n'; fi
  if [ "$role" != primary ]; then printf 'replicaof %s %s\n' "$primary_host" "$primary_port"; fi
} > "$STATE/redis.conf"
printf '%s\n' "$role" > "$STATE/role"

case $role in
  primary) say "starting as primary: $why" ;;
  replica) say "starting as replica of $primary_host: $why" ;;
  waiting) say "waiting for Sentinel or the agent: $why" ;;
esac
note_full_volume
exec "$SERVER" "$STATE/redis.conf"
`;

export const START_REDIS_SCRIPT = SCRIPT.replaceAll('@WAITING_HOST@', WAITING_PRIMARY_HOST).replaceAll(
  '@WAITING_PORT@',
  String(WAITING_PRIMARY_PORT),
);
