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

# ok NAME COMMAND...: passes if the command succeeds; its output explains a failure
ok() {
    local name=$1 out
    shift
    tap_n=$((tap_n + 1))
    if out=$("$@" 2>&1); then
        echo "ok $tap_n - $name"
    else
        echo "not ok $tap_n - $name"
        [ -n "$out" ] && sed 's/^/# /' <<<"$out" | head -30
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
