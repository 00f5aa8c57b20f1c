#!/bin/bash
# tests/asan.sh - the transcripts, the tests of several processes and those of the commands, against the
# program that is built with ASan and UBSan. The test programs themselves are those of the release build.
. "$(dirname "$0")/tap.bash"
cd "$top" || exit 1
export TENON=$TENON_ASAN

failures() { # failures PROGRAM: what it says except for what is fine; its status
    "$1" | grep -v '^ok '
    return "${PIPESTATUS[0]}"
}

for source in tests/wire/run_wire.c tests/multi/test_*.c; do
    ok "$(basename "$source" .c) against the sanitized server" failures "build/release/${source%.c}"
done
for script in tests/cli/*.sh; do
    ok "tests/cli/$(basename "$script") with the sanitized program" failures "$script"
done
plan
