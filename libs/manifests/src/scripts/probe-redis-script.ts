/**
 * Probes of a data pod, by exec, with the password through a pipe. Alive is whatever answers, an error too: redis-cli prints
 * an empty line after an error, so no single line of the answer is looked at. A server that loads reads commands only once per
 * 2 MiB of its file, and one that carries out a long command reads none: without an answer it is alive while its process works,
 * which the kernel counts. Killing a server that loads makes it load again for ever. A stopped or stuck process does no work.
 * Ready is who serves: a primary, or a replica with its link up; never a waiting one, and never dependent on anything outside
 * the pod's own view.
 *
 * The readiness probe also carries out, inside the pod, that persistence was switched off: once this pod's own copy of the
 * settings says so, and not before, the append-only file is ended and removed. The agent cannot do it from outside: a pod's
 * ConfigMap volume lags by up to two minutes, and a container that crashes in between, on a file that was ended, would
 * take it for the newest state and start as primary. While persistence is off the pod tells in the server's process title
 * whether its settings still say so: the agent starts no file before that, since this probe would remove it.
 *
 * A password that the server refuses says nothing about whether it serves: an older copy of the Secret was put back. Then the
 * last look that was answered counts, or every Service would lose its endpoints and clients that are served could not come back.
 *
 * In the same way it ends, with the agent away too, what the entrypoint began for a pod that came back to an old volume,
 * and the title tells what was set aside there.
 */
import { AOF_SEEN, LEFT_SEEN, REPLICA_PRIORITY } from '#domain';

const SCRIPT = String.raw`#!/bin/sh
# Usage: probe-redis.sh liveness|readiness
set -u
. /etc/atoll/scripts/credentials.sh

# The server ends its append-only file first; until then the file is the newest state and a restart loads it.
drop_aof() {
  [ "$(setting AOF)" = drop ] && [ "$(setting PERSISTENCE)" = off ] || return 0
  state=$(ask_as atoll 127.0.0.1 6379 'CONFIG SET appendonly no' 'CONFIG GET appendonly' | tail -n 1)
  if [ "$state" = no ]; then rm -rf /data/appendonlydir /data/dump.rdb; fi
}

# A pod that started without a copy has one: Sentinel may choose it. What was set aside stays: whether the copy is of the
# data set or of a primary that started empty, cannot be told here.
end_return() {
  if [ "$(cat "$STATE/held" 2>/dev/null)" != yes ]; then return 0; fi
  ask_as atoll 127.0.0.1 6379 ROLE > "$STATE/return" || return 0
  if [ "$(sed -n 2p "$STATE/return")" != slave ] || [ "$(sed -n 5p "$STATE/return")" != connected ]; then return 0; fi
  ask_as atoll 127.0.0.1 6379 'CONFIG SET replica-priority @PRIORITY@' >/dev/null && printf '\n' > "$STATE/held"
}

# What lies aside on the volume, for the agent, which reads the title anyway.
list_left() {
  for left in /data/left-behind.*; do
    if [ -d "$left" ]; then du -sk "$left" | awk -v second="${'${left##*.}'}" '{ printf " @LEFT_SEEN@%s:%.0f", second, $1 * 1024 }'; fi
  done
}

# title: the template of the process title; nothing where it is as the engine has it by itself, and was.
title() {
  aof=$(setting AOF) left=$(list_left)
  if [ "$(setting PERSISTENCE)" = off ]; then
    told="$left @AOF_SEEN@${'${aof:-keep}'}"
  elif [ -n "$left" ] || [ -s "$STATE/title" ]; then
    told=$left
  else
    return
  fi
  printf '%s' "$told" > "$STATE/title"
  printf '{title} {listen-addr} {server-mode}%s' "$told"
}

# What the server's first thread has done so far: its switches and the processor time of the process, as the kernel counts
# them. Other threads work for themselves: a server whose first thread is stuck still has threads that wake.
work_done() {
  awk '/ctxt_switches:/ { sum += $2 } END { printf "%.0f ", sum }' "$SERVER_PROCESS/status"
  sed 's/.*) //' "$SERVER_PROCESS/task/${'${SERVER_PROCESS##*/}'}/stat" | awk '{ printf "%.0f", $12 + $13 }'
}

case $1 in
  liveness)
    if [ -n "$(ask 127.0.0.1 6379 PING)" ]; then rm -f "$STATE/work"; exit 0; fi
    before=$(cat "$STATE/work" 2>/dev/null) now=$(work_done 2>/dev/null)
    printf '%s' "$now" > "$STATE/work"
    if [ -n "$now" ] && [ "$now" != "$before" ]; then exit 0; fi
    say "the server does not answer, and its process has done nothing since the last look"
    exit 1
    ;;
  readiness)
    drop_aof
    end_return
    asker=sentinel
    set -- PING ROLE
    template=$(title)
    if [ -n "$template" ]; then
      asker=atoll
      set -- "$@" "CONFIG SET proc-title-template \"$template\""
    fi
    ask_as "$asker" 127.0.0.1 6379 "$@" | awk -v last="$(cat "$STATE/ready" 2>/dev/null)" -v file="$STATE/ready" '
      NR == 1 { refused = /^WRONGPASS/ }
      NR == 2 { pong = ($0 == "PONG") }
      NR == 3 { role = $0 }
      NR == 6 { state = $0 }
      END {
        if (refused && last == "yes") exit 0
        ready = pong && (role == "master" || (role == "slave" && state == "connected"))
        printf "%s", ready ? "yes" : "no" > file
        if (ready) exit 0
        print "atoll: not serving: role " role ", link " state
        exit 1
      }
    '
    ;;
esac
`;

export const PROBE_REDIS_SCRIPT = SCRIPT.replaceAll('@AOF_SEEN@', AOF_SEEN)
  .replaceAll('@LEFT_SEEN@', LEFT_SEEN)
  .replaceAll('@PRIORITY@', REPLICA_PRIORITY);
