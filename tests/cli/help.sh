#!/bin/bash
# tests/cli/help.sh - every command explains itself, and wrong usage is refused with status 2.
. "$(dirname "$0")/../tap.bash"

status_is() { # status_is WANTED COMMAND...
    local wanted=$1 got
    shift
    "$@" >"$tmp/out" 2>"$tmp/err" </dev/null
    got=$?
    [ "$got" -eq "$wanted" ] || { echo "status $got, wanted $wanted"; cat "$tmp/out" "$tmp/err"; return 1; }
}
refused() { # refused NAME PART ARGUMENT...: status 2, and stderr says PART
    local name=$1 part=$2
    shift 2
    ok "$name" status_is 2 "$TENON" "$@"
    has "$(cat "$tmp/err")" "$part" "$name: says why"
}

ok "help: tenon --help" status_is 0 "$TENON" --help
overview=$(cat "$tmp/out")
ok "help: tenon --version" status_is 0 "$TENON" --version
has "$(cat "$tmp/out")" "tenon " "help: the version is printed"

commands=$(sed -nE 's/^  ([a-z]+( [a-z]+)?)  .*/\1/p' <<<"$overview")
is "$(wc -l <<<"$commands")" 27 "help: all commands are listed"
while read -r command; do
    ok "help: tenon $command --help" status_is 0 "$TENON" $command --help
    has "$(cat "$tmp/out")" "Usage: tenon $command" "help: usage of $command"
    is "$(cat "$tmp/err")" "" "help: $command --help writes nothing to stderr"
    refused "usage: $command refuses an unknown option" "unknown option --nope" $command --nope
done <<<"$commands"

refused "usage: nothing at all" "Usage: tenon COMMAND"
refused "usage: unknown command" "unknown command: frob" frob
refused "usage: half a command names the rest" "tenon table create" table
refused "usage: a missing operand" "missing arguments: DATABASE.TABLE FILE" import geo.x
refused "usage: too many operands" "too many arguments" serve x
refused "usage: no value" "--data needs a value: DIR" serve --data
refused "usage: a bad port" "--listen: expected HOST:PORT" serve --listen 127.0.0.1:99999
refused "usage: a bad number" "--workers: expected a whole number from 0 to 64" serve --workers=many
refused "usage: a bad mode" "--mode: expected \"sync\" or \"nosync\"" serve --mode fast
refused "usage: no table name" "not a table: countries" export countries
refused "usage: a bad URL" "not a URL" doctor ftp://x

readme_has_all_keys() {
    local key missing=0
    while read -r key; do
        grep -qF "\`$key\`" "$top/README.md" || { echo "README.md lacks $key"; missing=1; }
    done < <("$TENON" serve --help | sed -nE 's/^  ([a-zA-Z.]+) \[.*/\1/p')
    return $missing
}
ok "help: README.md names every key of the settings file" readme_has_all_keys
plan
