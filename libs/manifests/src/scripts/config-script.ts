/**
 * Shell functions that leave out of redis.conf, and of the spec's users, what this very server does not take. Invariant: no directive and no value
 * keeps a pod from starting: the engines end at the first line they refuse, so one typo, or a directive that the next
 * version dropped, would be a crash loop of every pod. It is asked of the binary itself: a trial file ends in a directive that
 * no engine knows, so the server always stops while it reads its configuration (measured: 16 ms, before it opens a
 * port or a file of data), and says at which line; Redis 8 takes unknown names for a module's and lists them all at the
 * end. What is left out is told in the log, and by the planner as rejected, since CONFIG GET shows another value.
 */
export const CONFIG_SCRIPT = String.raw`# Sourced by start-redis.sh, after credentials.sh. POSIX sh.
MARK=atoll-end-of-configuration

leave_out() { say "left out '$1', which this server refuses: $2" >&2; }

# usable_config FILE: prints the lines of FILE that the server takes.
usable_config() {
  grep . "$1" > "$STATE/usable.conf"
  rounds=0
  while [ "$rounds" -lt 300 ]; do
    rounds=$((rounds + 1))
    { cat "$STATE/usable.conf"; printf '%s x\n' "$MARK"; } > "$STATE/trial.conf"
    timeout 10 "$SERVER" "$STATE/trial.conf" > "$STATE/trial.log" 2>&1
    bad=$(sed -n 's/^Reading the configuration file, at line \([0-9]*\).*/\1/p' "$STATE/trial.log" | head -n 1)
    if [ -z "$bad" ]; then
      drop_unknown
      break
    fi
    if [ "$bad" -gt "$(wc -l < "$STATE/usable.conf")" ]; then break; fi
    leave_out "$(sed -n "$bad{p;q;}" "$STATE/usable.conf")" "$(tail -n 1 "$STATE/trial.log")"
    sed "$bad"d "$STATE/usable.conf" > "$STATE/trial.conf"
    mv "$STATE/trial.conf" "$STATE/usable.conf"
  done
  cat "$STATE/usable.conf"
  rm -f "$STATE/usable.conf" "$STATE/trial.conf" "$STATE/trial.log" "$STATE/unknown"
}

# Redis 8: the names that it would have handed to a module.
drop_unknown() {
  sed -n "s/.*>>> '\([^ ']*\).*/\1/p" "$STATE/trial.log" | grep -v -x -F "$MARK" > "$STATE/unknown"
  if [ ! -s "$STATE/unknown" ]; then return; fi
  while read -r unknown; do leave_out "$unknown" "unknown directive"; done < "$STATE/unknown"
  awk 'NR == FNR { unknown[$1]; next } !($1 in unknown)' "$STATE/unknown" "$STATE/usable.conf" > "$STATE/trial.conf"
  mv "$STATE/trial.conf" "$STATE/usable.conf"
}

# try_users FILE: starts the server with FILE as its ACL, on a socket of its own and without data, and ends it once it is up.
try_users() {
  printf '%s\n' 'port 0' 'save ""' 'appendonly no' "dir $STATE" "unixsocket $STATE/trial.sock" "aclfile $1" > "$STATE/trial.conf"
  "$SERVER" "$STATE/trial.conf" > "$STATE/trial.log" 2>&1 &
  trial=$!
  waits=0
  while [ "$waits" -lt 50 ] && kill -0 "$trial" 2>/dev/null; do
    if grep -qi 'ready to accept' "$STATE/trial.log"; then break; fi
    waits=$((waits + 1))
    sleep 0.05
  done
  kill -9 "$trial" 2>/dev/null
  wait "$trial" 2>/dev/null
  grep -qi 'ready to accept' "$STATE/trial.log"
}

# usable_users FILE: prints the lines of an ACL file that the server takes. Rules are known to be wrong only once all
# commands are loaded, so this needs a start (0.1 s). No hash of a password goes into the log.
usable_users() {
  cp "$1" "$STATE/trial.acl"
  while [ -s "$STATE/trial.acl" ] && ! try_users "$STATE/trial.acl"; do
    sed 's/trial\.acl:/\n&/g' "$STATE/trial.log" | sed -n 's/^trial\.acl:\([0-9]*\):.*/\1/p' | sort -un > "$STATE/bad"
    if [ ! -s "$STATE/bad" ]; then sed -n '$=' "$STATE/trial.acl" > "$STATE/bad"; fi
    awk 'NR == FNR { bad[$1]; next } FNR in bad { print $2 }' "$STATE/bad" "$STATE/trial.acl" |
      while read -r refused; do say "left out user '$refused', whose rules this server refuses" >&2; done
    awk 'NR == FNR { bad[$1]; next } !(FNR in bad)' "$STATE/bad" "$STATE/trial.acl" > "$STATE/trial.kept"
    mv "$STATE/trial.kept" "$STATE/trial.acl"
  done
  cat "$STATE/trial.acl"
  rm -f "$STATE"/trial.* "$STATE/bad"
}
`;
