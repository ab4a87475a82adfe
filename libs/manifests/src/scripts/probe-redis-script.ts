/**
 * Probes of a data pod, by exec, with the password through a pipe. Alive is whatever answers, also with "loading" or
 * "busy": killing a server that loads makes it load again for ever. Ready is who serves: a primary, or a replica with
 * its link up; never a waiting one, and never dependent on anything outside the pod's own view.
 */
export const PROBE_REDIS_SCRIPT = String.raw`#!/bin/sh
# Usage: probe-redis.sh liveness|readiness
set -u
. /etc/atoll/scripts/credentials.sh

case $1 in
  liveness)
    answer=$(ask 127.0.0.1 6379 PING | tail -n 1)
    case $answer in
      PONG | LOADING* | MASTERDOWN* | BUSY* | NOAUTH* | WRONGPASS* | NOPERM*) exit 0 ;;
    esac
    say "no answer to PING"
    exit 1
    ;;
  readiness)
    ask 127.0.0.1 6379 PING ROLE | awk '
      NR == 2 { pong = ($0 == "PONG") }
      NR == 3 { role = $0 }
      NR == 6 { state = $0 }
      END {
        if (pong && (role == "master" || (role == "slave" && state == "connected"))) exit 0
        print "atoll: not serving: role " role ", link " state
        exit 1
      }
    '
    ;;
esac
`;
