/**
 * The entrypoint of a Sentinel. It starts with nothing to monitor: the agent says what, once the data pods answer.
 * Invariants: its id is fixed per ordinal, so a replaced pod is no ghost that counts in the majority; what it has
 * written itself (votes, epochs, addresses) survives a crash of its container, so it cannot vote twice in one epoch;
 * addresses and credentials are written anew at each start.
 */
export const START_SENTINEL_SCRIPT = String.raw`#!/bin/sh
# Usage: start-sentinel.sh. Exit codes: 64 no settings, 65 no credentials.
set -u
umask 077
. /etc/atoll/scripts/credentials.sh

ordinal=$(expr "$POD_NAME" : '.*-\([0-9][0-9]*\)$')
own_id=$(sed -n "s/^$ordinal //p" /etc/atoll/config/sentinel-ids)
if [ -z "$own_id" ] || [ -z "$POD_IP" ]; then
  say "settings or pod address are missing"
  exit 64
fi
require_credentials

sentinel_acl > "$STATE/users.acl"
conf=$STATE/sentinel.conf
{
  printf '%s\n' 'port 26379' 'protected-mode no' 'daemonize no' "dir $STATE" "aclfile $STATE/users.acl" \
    "sentinel myid $own_id" "sentinel announce-ip $POD_IP" 'sentinel announce-port 26379' \
    'sentinel resolve-hostnames no' 'sentinel announce-hostnames no' 'sentinel deny-scripts-reconfig yes' \
    'sentinel sentinel-user sentinel'
  printf 'sentinel sentinel-pass "%s"\n' "$(quoted sentinel)"
  if [ -s "$conf" ]; then
    grep -v -E '^(port|protected-mode|daemonize|dir|aclfile|user|sentinel (myid|announce-ip|announce-port|resolve-hostnames|announce-hostnames|deny-scripts-reconfig|sentinel-user|sentinel-pass|auth-user|auth-pass))( |$)' "$conf"
    master=$(setting MASTER_NAME)
    if grep -q "^sentinel monitor $master " "$conf"; then
      printf 'sentinel auth-user %s sentinel\nsentinel auth-pass %s "%s"\n' "$master" "$master" "$(quoted sentinel)"
    fi
    say "keeping what this Sentinel knew before" >&2
  fi
} > "$conf.new"
mv "$conf.new" "$conf"
exec "$SERVER" "$conf" --sentinel
`;
