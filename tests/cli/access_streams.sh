#!/bin/bash
# tests/cli/access_streams.sh - permissions that change while streams stand, on four workers: a role
# loses and gets back a table, a token is revoked, a user is switched off, by commands beside the
# server. Who keeps his role is the witness that a change came.
. "$(dirname "$0")/../tap.bash"
cd "$tmp" || exit 1
bearer() { echo "Authorization: Bearer $1"; }
token() { "$TENON" token create "$1" --data d --expires never 2>/dev/null; }
put_role() { "$TENON" role put "$1" - --data d <<<"$2" >/dev/null; }

readers=16 # streams, so that each worker has some
writes='{"databases": {"geo": {"tables": {"places": {"read": true, "insert": true, "update": true}}}}}'
reads='{"databases": {"geo": {"tables": {"places": {"read": true}}}}}'
sees='{"databases": {"geo": {"tables": {"places": {"describe": true}}}}}'
echo '{"primaryKey": "id", "schema": {"type": "object", "properties": {"id": {"type": "integer"}}}}' >places.json
"$TENON" table create geo.places places.json --data d >/dev/null
put_role reader "$reads" && put_role writer "$writes"
"$TENON" user create ann --role reader --data d >/dev/null 2>&1
"$TENON" user create bob --role writer --data d >/dev/null 2>&1
ann=$(token ann) bob=$(token bob)
serve d --workers 4 || exit 1

# open_session TOKEN
open_session() {
    mcp '{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}' "$(bearer "$1")" >/dev/null
    session="Mcp-Session-Id: $(tr -d '\r' <head | sed -n 's/^[Mm]cp-[Ss]ession-[Ii]d: *//p')"
    mcp '{"jsonrpc":"2.0","method":"notifications/initialized"}' "$session" "$(bearer "$1")" >/dev/null
}
# listen FILE TOKEN: a session with a subscription and a stream, whose events go to the file
listen() {
    open_session "$2"
    mcp '{"jsonrpc":"2.0","id":1,"method":"resources/subscribe","params":{"uri":"db://geo/places"}}' "$session" "$(bearer "$2")" >"$1.subscribed"
    curl -sSN -m 120 -D "$1.head" -H 'Accept: text/event-stream' -H "$session" -H "$(bearer "$2")" "$url" >"$1" 2>/dev/null &
    reap $!
    pids[$1]=$!
    until_true 10 grep -q . "$1.head"
}
# updated FILE N, told_lists FILE N: has it got so many?
updated() { [ "$(grep -c resources/updated "$1")" -eq "$2" ]; }
told_tools() { [ "$(grep -c tools/list_changed "$1")" -eq "$2" ]; }
# all_of CONDITION N: of all streams of ann
all_of() {
    local i
    for ((i = 0; i < readers; i++)); do "$1" "ann$i" "$2" || return 1; done
}
ended() { ! kill -0 "${pids[$1]}" 2>/dev/null; }
insert() { mcp "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"tools/call\",\"params\":{\"name\":\"create_places\",\"arguments\":{\"id\":$1}}}" "$writer" "$(bearer "$bob")"; }

declare -A pids
for ((i = 0; i < readers; i++)); do listen "ann$i" "$ann"; done
listen bob "$bob"
writer=$session
is "$(awk 1 ann*.subscribed | sort -u)" '{"jsonrpc":"2.0","id":1,"result":{}}' "who may read may subscribe"
insert 1 >/dev/null
ok "a change is told to all" until_true 10 all_of updated 1
ok "and to the witness" until_true 10 updated bob 1

# ---- the role loses the table
put_role reader "$sees"
insert 2 >/dev/null
ok "role: who keeps his is told of what comes then" until_true 10 updated bob 2
ok "role: who loses a tool is told that his lists changed" until_true 10 all_of told_tools 1
insert 3 >/dev/null
ok "role: once more" until_true 10 updated bob 3
ok "role: who lost the table was told of neither" all_of updated 1
open_session "$ann"
subscribe='{"jsonrpc":"2.0","id":3,"method":"resources/subscribe","params":{"uri":"db://geo/%s"}}'
# shellcheck disable=SC2059
is "$(mcp "$(printf "$subscribe" places)" "$session" "$(bearer "$ann")")" \
    "$(mcp "$(printf "$subscribe" nowhere)" "$session" "$(bearer "$ann")" | sed s/nowhere/places/)" \
    "role: a subscription is refused as if there were no such table"

# ---- and gets it back
put_role reader "$reads"
ok "role: that is told too" until_true 10 all_of told_tools 2
insert 4 >/dev/null
ok "role: the subscriptions stand" until_true 10 all_of updated 2
ok "role: the witness had no changed lists" told_tools bob 0

# ---- a token is revoked, a user switched off
revoked=$("$TENON" token list ann --data d | cut -f1 | head -1)
"$TENON" token revoke "$revoked" --data d >/dev/null
all_ended() {
    local i
    for ((i = 0; i < readers; i++)); do ended "ann$i" || return 1; done
}
ok "token: all its streams end within two seconds" until_true 2 all_ended
ok "token: the witness goes on" eval '! ended bob'
mcp '{"jsonrpc":"2.0","id":4,"method":"ping"}' "$session" "$(bearer "$ann")" >/dev/null
has "$(cat head)" " 401 " "token: and it is refused"
"$TENON" user alter bob --disable --data d >/dev/null
ok "user: who is switched off loses his stream" until_true 2 ended bob
is "$(cat ann*.head bob.head | grep -c '^HTTP/1.1 200')" $((readers + 1)) "all streams had begun"
ok "the server stops in good order" stop
plan
