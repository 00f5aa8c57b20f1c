# tests/tap.bash - TAP for shell tests: source it, call `ok`, `is`, `has`, `skip`, end with `plan`.
#
# Also: a scratch directory $tmp that goes away at the end, and the processes started through
# `serve` or noted with `reap PID` are stopped. Binaries: $TENON, $TENON_ASAN, $TENON_GEN.
set -u
top=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
: "${TENON:=$top/build/release/tenon}" "${TENON_ASAN:=$top/build/asan/tenon}"
: "${TENON_GEN:=$top/build/release/tenon-gen}"
shared=${TENON_SHARED:-$top/../shared}
tmp=$(mktemp -d "${TMPDIR:-/tmp}/tenon-test.XXXXXX")
tap_n=0
tap_pids=()

tap_end() {
    local pid
    for pid in "${tap_pids[@]:-}"; do
        [ -n "$pid" ] && kill "$pid" 2>/dev/null && wait "$pid" 2>/dev/null
    done
    rm -rf "$tmp"
}
trap tap_end EXIT

reap() { tap_pids+=("$1"); }

# until_true SECONDS COMMAND...: tries again and again, at most so long
until_true() {
    local end=$((SECONDS + $1))
    shift
    until "$@" 2>/dev/null; do
        [ "$SECONDS" -lt "$end" ] || return 1
        read -rt 0.02 <> <(:) # a pause without a process
    done
    return 0
}

# serve DATA OPTION...: starts a server on a free port of 127.0.0.1; sets $server (pid), $port, $url.
# Its stderr goes to $tmp/serve.log. Fails after 20 s.
serve() {
    local data=$1
    shift
    rm -f "$tmp/port"
    "$TENON" serve --data "$data" --listen 127.0.0.1:0 --port-file "$tmp/port" --metrics-listen off --no-rate-limit "$@" >"$tmp/serve.out" 2>>"$tmp/serve.log" &
    server=$!
    reap "$server"
    until_true 20 test -s "$tmp/port" || { cat "$tmp/serve.log"; return 1; }
    port=$(cat "$tmp/port")
    url=http://127.0.0.1:$port/mcp
}
# stop: ends the server in good order; its exit status
stop() {
    kill -TERM "$server"
    wait "$server"
}

# mcp BODY HEADER...: one POST; the answer's headers go to $tmp/head
mcp() {
    local body=$1 header
    shift
    local headers=(-H 'Content-Type: application/json' -H 'Accept: application/json, text/event-stream')
    for header in "$@"; do headers+=(-H "$header"); done
    curl -sS -m 20 -D "$tmp/head" "${headers[@]}" -d "$body" "$url"
}
# session: opens one and sets $session (its header), $initialized (the answer)
session() {
    initialized=$(mcp '{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"test","version":"1"}}}')
    session="Mcp-Session-Id: $(tr -d '\r' <"$tmp/head" | sed -n 's/^[Mm]cp-[Ss]ession-[Ii]d: *//p')"
    mcp '{"jsonrpc":"2.0","method":"notifications/initialized"}' "$session" >/dev/null
}

# ok NAME COMMAND...: passes if the command succeeds; its output explains a failure. The command
# runs in this shell, so a function may set variables.
ok() {
    local name=$1
    shift
    tap_n=$((tap_n + 1))
    if "$@" >"$tmp/.ok" 2>&1; then
        echo "ok $tap_n - $name"
    else
        echo "not ok $tap_n - $name"
        sed 's/^/# /' "$tmp/.ok" | head -30
    fi
}
tap_same() { [ "$1" = "$2" ] || { echo "got:    $1"; echo "wanted: $2"; return 1; }; }
tap_holds() { [[ "$1" == *"$2"* ]] || { echo "got:    $1"; echo "wanted in it: $2"; return 1; }; }
is() { ok "$3" tap_same "$1" "$2"; }   # is GOT WANTED NAME
has() { ok "$3" tap_holds "$1" "$2"; } # has TEXT PART NAME
skip() {                               # skip NAME WHY
    tap_n=$((tap_n + 1))
    echo "ok $tap_n - $1 # SKIP $2"
}
plan() { echo "1..$tap_n"; }
