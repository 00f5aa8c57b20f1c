#!/bin/bash
# tests/asan.sh - the tests of the commands with the program that is built with ASan and UBSan. Those of
# the server have their own: tests/wire/asan.sh, tests/multi/asan.sh.
. "$(dirname "$0")/tap.bash"
cd "$top" || exit 1
export TENON=$TENON_ASAN

failures() { # failures PROGRAM: what it says except for what is fine; its status
    "$1" | grep -v '^ok '
    return "${PIPESTATUS[0]}"
}

for script in tests/cli/*.sh; do
    ok "tests/cli/$(basename "$script") with the sanitized program" failures "$script"
done
plan
