#!/bin/bash
# tests/format.sh - hand-written C is formatted as .clang-format says (make format mends it).
. "$(dirname "$0")/tap.bash"
cd "$top" || exit 1
ok "format: clang-format changes nothing" env -u MAKEFLAGS make -s format-check
plan
