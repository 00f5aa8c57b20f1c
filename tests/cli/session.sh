#!/bin/bash
# tests/cli/session.sh - tenon session list and close, beside a server with two workers and alone.
. "$(dirname "$0")/../tap.bash"
. "$(dirname "$0")/says.bash"
cd "$tmp" || exit 1
sessions() { "$TENON" session "$1" "${@:2}" --data d; }
ping() { mcp '{"jsonrpc":"2.0","id":1,"method":"ping"}' "$1"; }

says "list without a database" 1 "nowhere: No such file" "$TENON" session list --data nowhere
ok "which makes none" test ! -e nowhere
serve d --workers 2 || exit 1
says "list of none" 0 "no sessions in d" sessions list
session
first=$session
session
second=$session
mcp '{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"bad\u001b[2Jna\"me","version":"é"}}}' >/dev/null

list=$(sessions list)
is "$(wc -l <<<"$list")" 3 "list: one line for each"
has "$list" $'\tapplication\t-\toperating\t2025-06-18\t"test 1"\tused ' "list: profile, user, state, protocol, client"
has "$list" $'\tinitializing\t2025-06-18\t"bad?[2Jna?me ' "list: a client's name does nothing to the terminal"
is "$(grep -c "${first#*: }\|${second#*: }" <<<"$list")" 0 "list: the secret id is not in it"
is "$(cut -f1 <<<"$list" | grep -cE '^[0-9a-f]{16}$')" 3 "list: handles"

handle=$(printf %s "${first#*: }" | sha256sum | cut -c1-16)
has "$list" "$handle" "list: the handle of the first"
says "close" 0 "closed session $handle" sessions close "$handle"
has "$(ping "$first")" "Session not found" "close: the client's session is gone, on all workers"
has "$(ping "$first")" "Session not found" "close: and stays so"
has "$(ping "$second")" '"result":{}' "close: another goes on"
is "$(sessions list | wc -l)" 2 "close: it is no longer listed"
says "close twice" 1 "there is no session $handle in d (tenon session list shows all)" sessions close "$handle"
says "close of nonsense" 1 "there is no session " sessions close "$(printf 'x%.0s' {1..500})"
says "close by the id" 1 "there is no session " sessions close "${second#*: }"
says "close of nothing" 2 "missing arguments: HANDLE" sessions close
stop

is "$(sessions list | wc -l)" 2 "without a server the sessions are still there"
handle=$(sessions list | cut -f1 | head -1)
says "and can be closed" 0 "closed session $handle" sessions close "$handle"
serve d --workers 2 || exit 1
has "$(ping "$second")$(sessions list | wc -l)" 1 "the server that comes next knows"
plan
