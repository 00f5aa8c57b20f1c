#!/bin/bash
# tests/net/valgrind.sh - the traps that end in freed memory inside libwebsockets, where ASan does
# not look: under valgrind, which follows the forked workers. K6 must be clean, and a short fuzz.
. "$(dirname "$0")/../tap.bash"
tests=$top/build/release/tests/unit

if ! command -v valgrind >/dev/null || [ ! -x "$tests/test_http_traps" ]; then
    skip "K6 under valgrind" "needs valgrind and $tests/test_http_traps"
    plan
    exit
fi

clean() { # clean TEST FILTER: no error in any process, and the test passes
    TENON_FUZZ_ROUNDS=20 valgrind -q --error-exitcode=9 --leak-check=no \
        "$tests/test_$1" "$2" >"$tmp/out" 2>&1 && ! grep -q '^==[0-9]*== ' "$tmp/out" || { cat "$tmp/out"; return 1; }
}
ok "K6: an unknown Upgrade touches no freed memory" clean http_traps 'K6*'
ok "K5: an offer to upgrade neither" clean http_traps 'K5*'
ok "K1: pipelining neither" clean http_traps 'K1_f*'
ok "K1: streams and what follows them neither" clean http_streams 'K1*'
ok "K2: clients that leave a stream neither" clean http_stream_ends 'K2*'
ok "T-15: nor calls that go on without them" clean http_stream_ends 'T_15*'
plan
