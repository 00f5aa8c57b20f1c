#!/bin/bash
# tests/net/valgrind.sh - the traps that end in freed memory inside libwebsockets, where ASan does
# not look: under valgrind, which follows the forked workers. K6 must be clean, and a short fuzz.
. "$(dirname "$0")/../tap.bash"
test=$top/build/release/tests/unit/test_http_traps

if ! command -v valgrind >/dev/null || [ ! -x "$test" ]; then
    skip "K6 under valgrind" "needs valgrind and $test"
    plan
    exit
fi

clean() { # clean FILTER: no error in any process, and the test passes
    TENON_FUZZ_ROUNDS=20 valgrind -q --error-exitcode=9 --leak-check=no \
        "$test" "$1" >"$tmp/out" 2>&1 && ! grep -q '^==[0-9]*== ' "$tmp/out" || { cat "$tmp/out"; return 1; }
}
ok "K6: an unknown Upgrade touches no freed memory" clean 'K6*'
ok "K5: an offer to upgrade neither" clean 'K5*'
ok "K1: pipelining neither" clean 'K1_f*'
plan
