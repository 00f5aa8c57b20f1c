#!/bin/bash
# tests/wire/asan.sh - the transcripts against the server that is built with ASan and UBSan.
. "$(dirname "$0")/../tap.bash"
cd "$top" || exit 1
export TENON=$TENON_ASAN

failures() { # failures PROGRAM: what it says except for what is fine; its status
    "$1" | grep -v '^ok '
    return "${PIPESTATUS[0]}"
}

ok "run_wire against the sanitized server" failures build/release/tests/wire/run_wire
plan
