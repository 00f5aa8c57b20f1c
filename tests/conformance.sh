#!/bin/bash
# tests/conformance.sh - the outside clients of conformance/, as part of make check.
. "$(dirname "$0")/tap.bash"
if ! why=$("$top/conformance/install" 2>&1); then
    skip "outside clients" "the packages of conformance/ are not installed: $(tail -1 <<<"$why")"
    plan
    exit
fi
export TENON
exec node "$top/conformance/test_clients.mjs"
