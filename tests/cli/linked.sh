#!/bin/bash
# tests/cli/linked.sh - a component that is part of the program: make LINKED=examples/hello.c, with
# the objects that are built already.
. "$(dirname "$0")/../tap.bash"
cd "$top" || exit 1
b=build/linked-$$
trap 'rm -rf "$b"; tap_end' EXIT

mkdir -p "$b"
cp -al build/release/. "$b"
rm -rf "$b"/tenon "$b"/libcli.a "$b"/linked*
ok "make LINKED=examples/hello.c" make -s B="$b" VARIANT=release LINKED=examples/hello.c "$b/tenon"
ask() { # ask BINARY LINE...: what stdio answers
    local binary=$1
    shift
    {
        echo '{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}'
        echo '{"jsonrpc":"2.0","method":"notifications/initialized"}'
        printf '%s\n' "$@"
    } | timeout 60 "$binary" stdio --data "$tmp/data" 2>&1
}
greet='{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"greet","arguments":{"name":"linked"}}}'
has "$(ask "$b/tenon" "$greet")" 'Hello, linked!' "its tools are offered without --component"
has "$(ask "$TENON" "$greet")" '"error"' "and by the program without it they are not"
out=$(timeout 60 "$b/tenon" stdio --data "$tmp/data" --component build/release/examples/hello.so 2>&1 </dev/null)
has "$out" "tool greet: another one has this name" "the same one, loaded too, is refused"
plan
