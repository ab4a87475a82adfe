/**
 * Shell functions that look at what lies on the disk before the server starts. Invariants: "has data" means keys, not
 * files, since a server that starts empty writes files at once; and a start never loads less than the disk holds. The
 * engines' traps: with `appendonly yes` only the AOF is loaded, a lone dump.rdb counts for nothing (measured: 0 of 100
 * keys); with `appendonly no` only the dump is. An engine that finds a newer format does not start at all: after a version was
 * taken back, that is a replica's own file, and the primary gives it another copy. What a pod left when it was scaled away is
 * set aside before it takes part again, and it waits where that leaves no room for the copy: nothing is removed for it.
 */
import { NO_ROOM, VOLUME_FULL } from '#domain';

const SCRIPT = String.raw`# Sourced by start-redis.sh, after credentials.sh. POSIX sh.
DATA=/data
AOF=$DATA/appendonlydir
MANIFEST=$AOF/appendonly.aof.manifest
BASE=appendonly.aof.1.base.rdb
# What Kubernetes keeps of a container after its end; the agent reads it there.
LAST_WORDS=/dev/termination-log

# An RDB of no keys is below 200 bytes. In a small one, keys begin with SELECTDB (fe, number) RESIZEDB (fb).
rdb_has_keys() {
  [ -s "$1" ] || return 1
  if [ "$(wc -c < "$1")" -gt 400 ]; then return 0; fi
  od -An -v -tx1 "$1" | tr -d '\n' | grep -Eq ' fe( [0-9a-f][0-9a-f]){1,2} fb'
}

# Manifest lines: file NAME seq N type b|i|h. Commands in an increment, or keys in a base, are data.
aof_has_keys() {
  [ -s "$MANIFEST" ] || return 1
  while read -r _ aof_file _ _ _ aof_type _; do
    case $aof_type in
      b) if rdb_has_keys "$AOF/$aof_file"; then return 0; fi ;;
      i) if [ -s "$AOF/$aof_file" ]; then return 0; fi ;;
    esac
  done < "$MANIFEST"
  return 1
}

# Without persistence nothing on the disk is current, whatever lies there.
has_current_data() {
  [ "$(setting PERSISTENCE)" = on ] || return 1
  aof_has_keys || rdb_has_keys "$DATA/dump.rdb"
}

# The newest RDB format that this server reads, as the catalogue has it; empty for a line that is not in it.
readable_format() {
  case $("$SERVER" --version 2>/dev/null | sed -n 's/^\([A-Z][a-z]*\) server v=\([0-9]*\.[0-9]*\).*/\1 \2/p') in
    'Redis 7.0') echo 10 ;;
    'Redis 7.2' | 'Valkey 7.2' | 'Valkey 8.'*) echo 11 ;;
    'Redis 7.4' | 'Redis 8.0' | 'Redis 8.2' | 'Redis 8.4') echo 12 ;;
  esac
}

# REDIS0012 is 12, VALKEY080 is 80; nothing for another file.
format_of() {
  head -c 9 "$1" 2>/dev/null | tr -d '\000' | sed -n 's/^[A-Z]*0*\([1-9][0-9]*\)$/\1/p'
}

is_newer() {
  found=$(format_of "$1")
  [ -n "$found" ] && [ -n "$readable" ] && [ "$found" -gt "$readable" ]
}

# Only for a replica of a primary that is there: whoever may become primary starts with its files or not at all.
set_newer_aside() {
  readable=$(readable_format)
  if [ -s "$MANIFEST" ]; then
    base=$(awk '$6 == "b" { print $2 }' "$MANIFEST")
    if [ -n "$base" ] && is_newer "$AOF/$base"; then rm -rf "$AOF.newer"; mv "$AOF" "$AOF.newer"; fi
  fi
  if is_newer "$DATA/dump.rdb"; then mv "$DATA/dump.rdb" "$DATA/dump.rdb.newer"; fi
}

# What the record noted of this pod's return to an old volume, RETURNING="ORDINAL:STAMP ..."; empty for a member.
returning_stamp() {
  setting RETURNING | tr ' ' '\n' | sed -n "s/^$(printf '%s' "$POD_NAME" | sed 's/.*-//')://p"
}

# When this volume's files were last set aside; 0 for never.
last_return() { sed -n '1s/^\([0-9][0-9]*\)$/\1/p' "$DATA/returned" 2>/dev/null | grep . || echo 0; }

# A note of before the last return: an old text of the settings, or a clock that was wrong. What lies here may be a member's
# copy, so it stays; it may be old, so nobody chooses it before it was linked.
is_noted_late() {
  stamp=$(returning_stamp)
  [ -n "$stamp" ] && [ "$(last_return)" -gt "$stamp" ]
}

# The files of an earlier membership are no copy of the data set: they go aside before anything looks at them, once for
# each return, so that what was copied since stays. Nothing else removes them: a copy with keys in it may be one of a
# primary that started empty. Only what an earlier return left makes room, for files with keys that are newer than it. The
# stamp comes last: a crash in between does the rest again.
set_left_aside() {
  stamp=$(returning_stamp)
  if [ -z "$stamp" ] || [ "$(last_return)" -ge "$stamp" ]; then return 0; fi
  aside=$DATA/left-behind.$stamp
  for left in "$AOF" "$DATA/dump.rdb"; do
    if [ ! -e "$left" ]; then continue; fi
    mkdir -p "$aside" && mv "$left" "$aside/" || return 1
    say "this volume is of an earlier membership: $left is set aside in $aside"
  done
  if (AOF=$aside/appendonlydir MANIFEST=$aside/appendonlydir/appendonly.aof.manifest; aof_has_keys) || rdb_has_keys "$aside/dump.rdb"; then
    for left in "$DATA"/left-behind.*; do
      if [ "$left" != "$aside" ]; then rm -rf "$left"; fi
    done
  fi
  wait_for_room
  printf '%s\n' "$stamp" > "$DATA/returned.new" && sync && mv "$DATA/returned.new" "$DATA/returned"
}

leave_words() { if [ -w "$LAST_WORDS" ]; then printf '%s\n' "$*" > "$LAST_WORDS"; fi; }

bytes_of() { du -sk "$@" 2>/dev/null | awk '{ sum += $1 } END { printf "%.0f\n", sum * 1024 }'; }

# volume_bytes COLUMN: 2 for the size of the volume, 4 for what is free. Nothing where df does not say.
volume_bytes() {
  df -Pk "$DATA" 2>/dev/null | awk -v column="$1" 'NR == 2 && $column ~ /^[0-9]+$/ { printf "%.0f\n", $column * 1024 }'
}

# The file that the primary sends, the append-only base that is made of it, and a twentieth of the volume for what is
# written meanwhile. A copy is as large as what the fullest peer holds in memory, or as what lies here if none answers.
needed_bytes() {
  ask_all "$(setting REDIS_SET)" "$(setting REDIS_PODS)" 6379 "INFO memory"
  copy=$(cat "$STATE"/answer.* 2>/dev/null | tr -d '\r' | sed -n 's/^used_memory_dataset:\([0-9][0-9]*\)$/\1/p' | sort -n | tail -n 1)
  rm -f "$STATE"/answer.*
  copies=1
  if [ "$(setting PERSISTENCE)" = on ]; then copies=2; fi
  echo $((copies * ${'${copy:-$aside_bytes}'} + volume_size / 20))
}

# Where what lies aside is less than a twentieth of the volume, it is not what the room is wanting for.
lacks_room() {
  aside_bytes=$(bytes_of "$DATA"/left-behind.*) volume_size=$(volume_bytes 2) free=$(volume_bytes 4)
  if [ -z "$free" ] || [ $((aside_bytes * 20)) -le "$volume_size" ]; then return 1; fi
  needed=$(needed_bytes)
  [ "$free" -lt "$needed" ]
}

# Ends once, so that Kubernetes and by it the agent know why. After that it stays, with the port open and nobody let in:
# the probes leave it alone, a person can look and remove, and it goes on by itself once there is room.
wait_for_room() {
  if ! lacks_room; then return 0; fi
  for folder in "$DATA"/left-behind.*; do :; done
  say "no room for a copy: $folder takes $aside_bytes bytes, $free are free, $needed are needed"
  leave_words "@NO_ROOM@ folder=$folder bytes=$aside_bytes free=$free needed=$needed"
  if [ ! -e "$STATE/no-room" ]; then
    : > "$STATE/no-room"
    exit 67
  fi
  hold_port
  while lacks_room; do sleep 5; done
  kill "$holder" && wait "$holder"
  trap - TERM
  rm -f "$STATE/no-room" "$STATE"/hold.*
  leave_words
  say "there is room for a copy now"
}

hold_port() {
  printf 'user default off resetpass resetkeys resetchannels -@all\n' > "$STATE/hold.acl"
  printf '%s\n' 'port 6379' 'protected-mode no' 'save ""' 'appendonly no' "dir $STATE" "aclfile $STATE/hold.acl" > "$STATE/hold.conf"
  "$SERVER" "$STATE/hold.conf" > /dev/null 2>&1 &
  holder=$!
  trap 'kill "$holder"; exit 67' TERM
}

# For whoever finds this container ended: on a full disk the engines end, or take no writes.
note_full_volume() {
  volume_size=$(volume_bytes 2) free=$(volume_bytes 4)
  if [ -n "$free" ] && [ "$free" -lt $((volume_size / 50 + 1048576)) ]; then leave_words "@VOLUME_FULL@"; fi
}

# Never written to: the very first base and no command since.
aof_is_untouched() {
  if [ ! -s "$MANIFEST" ]; then return 0; fi
  grep -q " $BASE seq 1 type b" "$MANIFEST" && ! aof_has_keys
}

# Makes the dump the AOF's base. The manifest comes last and by rename: a crash in between leaves the dump in force.
adopt_dump_as_aof() {
  if [ -d "$AOF" ]; then mv "$AOF" "$AOF.empty.$(date +%s)"; fi
  mkdir -p "$AOF"
  ln "$DATA/dump.rdb" "$AOF/$BASE" 2>/dev/null || cp "$DATA/dump.rdb" "$AOF/$BASE" || return 1
  printf 'file %s seq 1 type b\n' "$BASE" > "$MANIFEST.new"
  sync
  mv "$MANIFEST.new" "$MANIFEST"
}

# Prints the appendonly line that loads what the disk holds. The agent switches persistence on a running server.
choose_appendonly() {
  if [ "$(setting PERSISTENCE)" = on ]; then
    if rdb_has_keys "$DATA/dump.rdb" && aof_is_untouched; then
      adopt_dump_as_aof || return 1
    fi
    printf 'appendonly yes\n'
  elif aof_has_keys; then
    printf 'appendonly yes\n'
  else
    printf 'appendonly no\n'
  fi
}
`;

export const DATA_SCRIPT = SCRIPT.replaceAll('@NO_ROOM@', NO_ROOM).replaceAll('@VOLUME_FULL@', VOLUME_FULL);
