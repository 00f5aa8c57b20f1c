#!/bin/bash
# tests/multi/asan.sh - the tests of several processes against the server that is built with ASan and
# UBSan. The test programs themselves are those of the release build.
. "$(dirname "$0")/../tap.bash"
cd "$top" || exit 1
export TENON=$TENON_ASAN
export TENON_FOLLOW_N=200 TENON_FOLLOW_KILL_S=10 # of what takes its time

failures() { # failures PROGRAM: what it says except for what is fine; its status
    "$1" | grep -v '^ok '
    return "${PIPESTATUS[0]}"
}

for source in tests/multi/test_*.c; do
    ok "$(basename "$source" .c) against the sanitized server" failures "build/release/${source%.c}"
done
plan
