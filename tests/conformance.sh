#!/bin/bash
# tests/conformance.sh [NAME] - conformance/test_NAME.mjs (clients) as part of make check.
. "$(dirname "$0")/tap.bash"
if ! why=$("$top/conformance/install" 2>&1); then
    skip "outside clients" "the packages of conformance/ are not installed: $(tail -1 <<<"$why")"
    plan
    exit
fi
export TENON
exec node "$top/conformance/test_${1:-clients}.mjs"
