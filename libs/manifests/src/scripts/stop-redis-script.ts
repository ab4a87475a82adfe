/**
 * preStop of a data pod: what a drain, an eviction or a deletion waits for before the server gets SIGTERM. A primary that
 * somebody can take over from goes on serving while the agent hands over (planner/rules/hand-over-ending.ts): that loses
 * nothing and stops the writers for a fraction of a second, while the death of the process is a failover. Decided here, from what this
 * server says alone, so it ends wherever nothing is gained: a replica, a primary without a linked replica (the
 * whole data set goes, a Standalone), one that loads, a server that does not answer twice.
 *
 * The agent is not asked, it is seen: its connection is the one of its user that came in from outside the pod. Without it
 * nobody hands over, and Sentinel should begin soon. While it carries a hand-over out it says so in the name of
 * that connection, which ends with the agent: then, and only then, the old primary stays also after it has become a replica,
 * until its writers have been sent on. Invariant: never longer than HOLD_S, so that of the grace period of 60 s enough is
 * left for what SIGTERM begins (up to 10 s for lagging replicas, then the files). It never fails: the pod ends anyway.
 */
import { HANDING_OVER } from '#domain';

/** Of the grace period: for all of it. What a hand-over takes is 1 to 3 s. */
export const HOLD_S = 10;
/** Without a hand-over being on: an agent that is there begins within a second. */
const UNTOLD_S = 4;

const SCRIPT = String.raw`#!/bin/sh
# preStop: stop-redis.sh
set -u
. /etc/atoll/scripts/credentials.sh

# One look: handing, held (somebody can take over, the agent is there), alone (the agent is not), free; nothing: no answer.
look() {
  ask_as atoll 127.0.0.1 6379 ROLE 'CLIENT LIST TYPE normal' | awk '
    NR == 1 { if ($0 != "OK") exit; next }
    NR == 2 { role = $0; next }
    NR == 4 && role == "master" && $0 != "" && !/^id=/ { linked = 1 }
    /^id=/ && / user=atoll( |$)/ && !/ laddr=127\./ {
      agent = 1
      if (/ name=@HANDING_OVER@ /) handing = 1
    }
    END {
      if (role != "master" && role != "slave") exit
      if (handing) print "handing"
      else if (!linked) print "free"
      else print agent ? "held" : "alone"
    }
  '
}

start=$(date +%s) told=$start away=0
while :; do
  case $(look) in
    handing) told=$(date +%s) away=0 ;;
    held) away=0 ;;
    alone) away=$((away + 1)) ;;
    free) exit 0 ;;
    *) away=$((away + 3)) ;;
  esac
  now=$(date +%s)
  if [ "$away" -ge 6 ] || [ $((now - told)) -ge @UNTOLD_S@ ] || [ $((now - start)) -ge @HOLD_S@ ]; then exit 0; fi
  sleep 0.2
done
`;

export const STOP_REDIS_SCRIPT = SCRIPT.replaceAll('@HANDING_OVER@', HANDING_OVER)
  .replaceAll('@UNTOLD_S@', String(UNTOLD_S))
  .replaceAll('@HOLD_S@', String(HOLD_S));
