/**
 * Shell functions that turn the Secret into ACL files and ask other servers. Invariant: a password is read from its
 * file and goes into a 0600 file or a pipe, never into arguments or environment; ACL files carry only SHA-256 hashes.
 * A user has two valid passwords while a rotation is on, so that a lagging volume locks nobody out. Users that the spec
 * adds are taken only as far as this server takes their rules: one bad rule would refuse the whole ACL file.
 */
import { ownValue } from '#domain';
import { DATA_DEFAULT_RULES, DATA_RULES, SENTINEL_DEFAULT_RULES, SENTINEL_RULES } from '../acl-rules.ts';

const SCRIPT = String.raw`# Sourced by the entrypoints and probes. POSIX sh.
CREDENTIALS=/etc/atoll/credentials
STATE=/run/atoll
# The entrypoint becomes the server, so that is the first process of the container.
SERVER_PROCESS=/proc/1

if command -v redis-server >/dev/null 2>&1; then
  SERVER=redis-server CLI=redis-cli
else
  SERVER=valkey-server CLI=valkey-cli
fi

say() { printf 'atoll: %s\n' "$*"; }

setting() { sed -n "s/^$1=//p" /etc/atoll/config/settings; }

# Ends the container when a password is missing: a server without it would be open, or shut to everybody.
require_credentials() {
  for user in atoll replication sentinel app; do
    if [ ! -s "$CREDENTIALS/$user" ]; then
      say "the credentials Secret has no password for user $user"
      exit 65
    fi
  done
}

# quoted FILE: the password in FILE, for between double quotes in a configuration line.
quoted() { sed 's/[\\"]/\\&/g' "$CREDENTIALS/$1"; }

hashes() {
  for key in "$1" "$1.next" "$1.previous"; do
    if [ -s "$CREDENTIALS/$key" ]; then
      printf ' #%s' "$(sha256sum < "$CREDENTIALS/$key" | cut -d ' ' -f 1)"
    fi
  done
}

# acl_user USER RULES: one line of an ACL file.
acl_user() { printf 'user %s on%s %s\n' "$1" "$(hashes "$1")" "$2"; }

# further_users RULES_FILE FILTER: the users that the spec adds and that have a password. Lines are "NAME RULES".
further_users() {
  if [ ! -s "$1" ]; then return; fi
  while read -r further rules; do
    if [ -s "$CREDENTIALS/user.$further" ]; then
      printf 'user %s on%s %s\n' "$further" "$(hashes "user.$further")" "$rules"
    fi
  done < "$1" > "$STATE/further.acl"
  "$2" "$STATE/further.acl"
  rm -f "$STATE/further.acl"
}

redis_acl() {
  printf 'user default off resetpass @DATA_DEFAULT@\n'
@DATA_USERS@
  further_users /etc/atoll/config/users usable_users
}

sentinel_acl() {
  printf 'user default off resetpass @SENTINEL_DEFAULT@\n'
@SENTINEL_USERS@
  further_users /etc/atoll/config/sentinel-users cat
}

# ask HOST PORT COMMAND...: replies, one line a value, after the OK of AUTH. Nothing within 2 s is no answer.
ask() { ask_as sentinel "$@"; }

# ask_as USER HOST PORT COMMAND...
ask_as() {
  ask_user=$1 ask_host=$2 ask_port=$3
  shift 3
  {
    printf 'AUTH %s "%s"\n' "$ask_user" "$(quoted "$ask_user")"
    for ask_command in "$@"; do printf '%s\n' "$ask_command"; done
  } | timeout 2 "$CLI" -h "$ask_host" -p "$ask_port" 2>/dev/null
}

# ask_all SET COUNT PORT COMMAND...: asks the pods of a StatefulSet, all at once; answers in $STATE/answer.<ordinal>.
ask_all() {
  all_set=$1 all_count=$2 all_port=$3
  shift 3
  rm -f "$STATE"/answer.*
  all_service=$(setting PODS_SERVICE)
  ordinal=0
  while [ "$ordinal" -lt "$all_count" ]; do
    if [ "$all_set-$ordinal" != "$POD_NAME" ]; then
      ask "$all_set-$ordinal.$all_service" "$all_port" "$@" > "$STATE/answer.$ordinal" &
    fi
    ordinal=$((ordinal + 1))
  done
  wait
}
`;

const lines = (rules: Readonly<Record<string, string>>, users: readonly string[]): string =>
  users.map((user) => `  acl_user ${user} '${ownValue(rules, user)}'`).join('\n');

export const CREDENTIALS_SCRIPT = SCRIPT.replace('@DATA_DEFAULT@', DATA_DEFAULT_RULES)
  .replace('@DATA_USERS@', lines(DATA_RULES, ['atoll', 'replication', 'sentinel', 'app']))
  .replace('@SENTINEL_DEFAULT@', SENTINEL_DEFAULT_RULES)
  .replace('@SENTINEL_USERS@', lines(SENTINEL_RULES, ['atoll', 'sentinel', 'app']));
