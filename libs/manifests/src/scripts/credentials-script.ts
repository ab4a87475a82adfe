/**
 * Shell functions that turn the Secret into ACL files and ask other servers. Invariant: a password is read from its
 * file and goes into a 0600 file or a pipe, never into arguments or environment; ACL files carry only SHA-256 hashes.
 * A user has two valid passwords while a rotation is on, so that a lagging volume locks nobody out.
 *
 * The data nodes' rules: `replication` and `sentinel` hold what the engines' documentation lists for them, and `app` all
 * but administration. No rule may name a command that the oldest engine lacks: a server refuses a whole ACL file for it.
 *
 * The data nodes' `default` is off, which nobody can log in as, and yet holds every right: a server replays its AOF as
 * `default` and checks each EXEC anew. Without the rights every transaction and script in the AOF is skipped at a
 * restart, with one line in the log (seen: 1,000 of 1,000 keys), and the replicas copy what is left.
 */
export const CREDENTIALS_SCRIPT = String.raw`# Sourced by the entrypoints and probes. POSIX sh.
CREDENTIALS=/etc/atoll/credentials
STATE=/run/atoll

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
  for key in "$1" "$1.previous"; do
    if [ -s "$CREDENTIALS/$key" ]; then
      printf ' #%s' "$(sha256sum < "$CREDENTIALS/$key" | cut -d ' ' -f 1)"
    fi
  done
}

# acl_user USER RULE...: one line of an ACL file.
acl_user() {
  acl_name=$1
  shift
  printf 'user %s on%s %s\n' "$acl_name" "$(hashes "$acl_name")" "$*"
}

redis_acl() {
  printf 'user default off resetpass allkeys allchannels +@all\n'
  acl_user atoll allkeys allchannels +@all
  acl_user replication resetchannels -@all +ping +psync +replconf
  acl_user sentinel allchannels -@all +multi +exec +slaveof +replicaof +failover +ping +info +role \
    '+config|rewrite' +publish +subscribe '+client|setname' '+client|kill' '+client|info' '+script|kill'
  acl_user app allkeys allchannels +@all -@admin +role
}

sentinel_acl() {
  printf 'user default off resetpass resetkeys resetchannels -@all\n'
  acl_user atoll allchannels +@all
  acl_user sentinel allchannels -@all +auth +hello +ping +info +role +publish +subscribe '+client|setname' \
    '+sentinel|is-master-down-by-addr' '+sentinel|master' '+sentinel|get-master-addr-by-name'
  acl_user app allchannels -@all +auth +hello +ping +info +role +command +subscribe +psubscribe +unsubscribe \
    +punsubscribe +client '-client|kill' '-client|pause' '+sentinel|get-master-addr-by-name' '+sentinel|master' \
    '+sentinel|masters' '+sentinel|replicas' '+sentinel|slaves' '+sentinel|sentinels' '+sentinel|myid' \
    '+sentinel|ckquorum'
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
