#!/bin/bash
# tests/size.sh - code, tables and generated sources stay within their budgets.
. "$(dirname "$0")/tap.bash"
cd "$top" || exit 1
ok "size: everything is within its budget" tests/size build/release
plan
