#!/bin/bash
# tests/generated.sh - generated/ is what tenon-gen makes of spec/ today, and twice makes the same.
. "$(dirname "$0")/tap.bash"
cd "$top" || exit 1
ok "generated: the generator runs" "$TENON_GEN" generate --out "$tmp/once"
ok "generated: what is committed is current (make generate)" diff -r generated "$tmp/once"
ok "generated: it runs again" "$TENON_GEN" generate --out "$tmp/once"
ok "generated: GEN-06 twice makes no difference" diff -r generated "$tmp/once"
plan
