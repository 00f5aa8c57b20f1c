#!/bin/bash
# tests/cli/serve.sh - serve, stdio and doctor as an operator meets them: flags over the settings
# file, clear refusals at start, commands beside a running server.
. "$(dirname "$0")/../tap.bash"
cd "$tmp" || exit 1

refused() { # refused NAME STATUS PART ARGUMENT...: tenon ends at once and stderr says PART
    local name=$1 status=$2 part=$3 out got
    shift 3
    out=$(timeout 20 "$TENON" "$@" 2>&1 </dev/null)
    got=$?
    is "$got" "$status" "$name: status"
    has "$out" "$part" "$name: message"
}
tools() { mcp '{"jsonrpc":"2.0","id":1,"method":"tools/list"}' "$session" | jq -r '.result.tools[].name'; }
code() { curl -sS -m 20 -o /dev/null -w '%{http_code}' "$@"; }

cat >places.json <<'END'
{"primaryKey": "id", "schema": {"type": "object",
 "properties": {"id": {"type": "string"}, "name": {"type": "string"}}}}
END

# ---- a server by a settings file, with flags on top
cat >settings.json <<'END'
{"listen": "127.0.0.1:1", "workers": 2, "dataDir": "elsewhere",
 "mcp": {"session": {"allowClientDelete": false}, "application": {"mountPath": "/mcp"}}}
END
ok "serve starts by a settings file" serve d --config settings.json --allow-client-delete
ok "flags override the file: the data directory" test -d d -a ! -e elsewhere
session
has "$initialized" '"protocolVersion":"2025-06-18"' "it answers initialize"
is "$(code -X DELETE -H "$session" "$url")" 204 "flags override the file: DELETE is allowed"
out=$("$TENON" doctor "$url")
is "$?" 0 "doctor: status"
has "$out" "ok    ping" "doctor: ping"
has "$out" "ok    tools/list" "doctor: tools/list"
has "$out" "ok    DELETE" "doctor: DELETE"

# ---- beside it
refused "a second serve on the same directory" 1 "d" serve --data d --listen 127.0.0.1:0
refused "a second serve on the same port" 1 "$port" serve --data other --listen "127.0.0.1:$port"
ok "the first one does not mind" "$TENON" doctor "$url"
session
ok "table create beside a server" "$TENON" table create --data d geo.places places.json
printf '{"id": "a", "name": "A"}\n' >rows.ndjson
ok "import beside a server" "$TENON" import --data d geo.places rows.ndjson
sees_tool() { grep -qx get_places < <(tools); }
ok "the server sees the new table within a second" until_true 2 sees_tool
has "$(mcp '{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"get_places","arguments":{"id":"a"}}}' "$session")" \
    '"name":"A"' "and the imported row"
out=$(printf '%s\n' \
    '{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"test","version":"1"}}}' \
    '{"jsonrpc":"2.0","method":"notifications/initialized"}' \
    '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"get_places","arguments":{"id":"a"}}}' |
    timeout 20 "$TENON" stdio --data d 2>"$tmp/stdio.err")
is "$(wc -l <<<"$out")" 2 "stdio beside a server: one line for each request"
is "$(jq -r 'select(.id == 1).result.structuredContent.name' <<<"$out")" "A" "stdio reads the same row"
ok "SIGTERM ends the server in good order" stop

# ---- without flags for it, DELETE is off
ok "serve again" serve d --workers 1 --print-client
has "$(cat "$tmp/serve.out")" "\"url\": \"$url\"" "--print-client prints what to paste"
has "$(cat "$tmp/serve.out")" '"stdio", "--data"' "--print-client prints the stdio variant"
session
is "$(code -X DELETE -H "$session" "$url")" 405 "DELETE is off by default"
has "$("$TENON" doctor "$url")" "405" "doctor tolerates it"
is "$(tools | wc -l)" 5 "the table is still there: five tools"
ok "SIGTERM again" stop
refused "doctor without a server" 1 "cannot connect to 127.0.0.1 port $port" doctor "$url"

# ---- refused at start
printf '{\n "workers": 1,\n "wrokers": 2\n}\n' >typo.json
refused "an unknown key" 1 "typo.json:3: wrokers: unknown key" serve --config typo.json
printf '{"workers": 1\n' >cut.json
refused "a settings file cut off" 1 "cut.json:2: " serve --config cut.json
refused "a settings file that is not there" 1 "nowhere.json" serve --config nowhere.json
refused "stdio reads settings too" 1 "typo.json:3: wrokers: unknown key" stdio --config typo.json
refused "a public address" 1 "0.0.0.0" serve --data d --listen 0.0.0.0:0
refused "a public IPv6 address" 1 "::" serve --data d --listen '[::]:0'
refused "no address of this machine" 1 "192.0.2.1" serve --data d --listen 192.0.2.1:0
echo >file
refused "a data directory that is a file" 1 "file" serve --data file --listen 127.0.0.1:0
refused "import into it" 1 "file" import --data file geo.places rows.ndjson

# ---- a database that is damaged, foreign, full or not to be written
cp -r d cut && truncate -s 8192 cut/data.mdb
refused "a data file cut short" 1 "data.mdb is damaged" serve --data cut --listen 127.0.0.1:0
refused "export from it" 1 "data.mdb is damaged" export --data cut geo.places
cp -r d noise && head -c 20000 /dev/zero | tr '\0' x >noise/data.mdb
refused "a data file of something else" 1 "not a file of this program" serve --data noise --listen 127.0.0.1:0
cp -r d emptied && : >emptied/data.mdb
refused "a data file cut to nothing" 1 "the file is empty" serve --data emptied --listen 127.0.0.1:0

# as somebody who may not write: the superuser always may
as_nobody() {
    if [ "$(id -u)" -eq 0 ]; then setpriv --reuid 65534 --regid 65534 --clear-groups "$@"; else "$@"; fi
}
cp "$TENON" ./tenon && chmod 755 . tenon
cp -r d locked && chmod 500 locked && chmod 400 locked/*
[ "$(id -u)" -eq 0 ] && chown -R 65534:65534 locked
out=$(as_nobody timeout 20 ./tenon serve --data locked --listen 127.0.0.1:0 2>&1)
is "$?" 1 "a read-only data directory: status"
has "$out" "Permission denied" "a read-only data directory: message"
chmod 700 locked

seq -f '{"id": "%.0f", "name": "a row that takes its room on the disk, as rows do"}' 1 60000 >many.ndjson
full() { (trap '' XFSZ; ulimit -f 9000; "$@" 2>&1); } # files of at most 9 MB
out=$(full "$TENON" import --data d geo.places many.ndjson)
is "$?" 1 "an import that finds no room: status"
has "$out" "nothing was imported" "an import that finds no room: message"
is "$("$TENON" export --data d geo.places --format ndjson)" '{"id":"a","name":"A"}' "and the rows are as before"
plan
