#!/bin/bash
# tests/cli/manifest.sh - components that are folders as an operator meets them: checked, served,
# read again when they change, refused with file and line.
. "$(dirname "$0")/../tap.bash"
cd "$tmp" || exit 1
books=$top/examples/books

ask() { mcp "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"$1\",\"params\":$2}" "$session" | jq -c '.result // .error'; }
shown() { [[ "$(ask "$1" "$2")" == *"$3"* ]]; } # shown METHOD PARAMS PART
logged() { grep -qF "$1" "$tmp/serve.log"; }
soon() { ok "$1" until_true 30 "${@:2}"; }
note() { # note TEXT: the component of the folder notes
    mkdir -p notes
    printf '{"resources": [{"uri": "note://a", "name": "a", "text": "%s"}],\n "prompts": [%s]}' "$1" "${2:-}" >notes/.new
    mv notes/.new notes/component.json
}
prompt='{"name": "p", "description": "d", "messages": [{"role": "user", "content": {"type": "text", "file": "p.txt"}}]}'

# ---- check
is "$("$TENON" component check "$books")" "$books/component.json: 1 table, 1 tool, 1 prompt" "check says what there is"
note one '{"name": 5},
 {"name": "p"}'
out=$("$TENON" component check notes 2>&1)
is "$?" 1 "check of what is wrong: status"
is "$(grep -c '^notes/component.json:[23]: /prompts/' <<<"$out")" "$(wc -l <<<"$out")" "every fault is a line with its place"
has "$out" "notes/component.json:2: /prompts/0/name: expected string" "a fault of line 2"
has "$out" "notes/component.json:3: /prompts/1/messages: expected array" "a fault of line 3"
out=$("$TENON" component check none 2>&1)
is "$?:$out" "1:none/component.json: No such file or directory" "check of no folder"
out=$("$TENON" component check 2>&1)
is "$?" 2 "check of nothing is wrong usage"

# ---- refused at the start
out=$(timeout 20 "$TENON" serve --data other --listen 127.0.0.1:0 --component notes 2>&1 </dev/null)
is "$?" 1 "serve of what is wrong: status"
has "$out" "notes/component.json:2: /prompts/0/name: expected string" "serve says what is wrong"
is "$(grep -c 'notes/component.json' <<<"$out")" 5 "serve says it once"
note one
mkdir -p clash
echo '{"tools": [{"name": "get_books", "description": "d", "exec": {"argv": ["true"]}}]}' >clash/component.json
out=$(timeout 20 "$TENON" serve --data other --listen 127.0.0.1:0 --component "$books" --component clash 2>&1 </dev/null)
has "$out" "component clash: tool get_books: the table library.books has a tool of this name" "a tool with the name of a table's"
echo '{"resources": [{"uri": "note://a", "name": "b", "text": ""}]}' >clash/component.json
out=$(timeout 20 "$TENON" serve --data other --listen 127.0.0.1:0 --component notes --component clash 2>&1 </dev/null)
has "$out" "clash/component.json:1: /resources/0: resource note://a: another one has this URI" "a URI of another component"

out=$(timeout 20 env --ignore-signal=CHLD "$TENON" serve --data other --listen 127.0.0.1:0 --component notes --component clash 2>&1 </dev/null)
ok "nor does it mind when who starts it ignores SIGCHLD" eval '[[ "$out" == *"another one has this URI"* && "$out" != *"cannot be tried"* ]]'

# ---- served, with a table
ok "serve takes a folder" serve d --workers 2 --component "$books" --component notes
session
has "$(ask resources/read '{"uri":"note://a"}')" '"text":"one"' "a resource"
has "$(ask tools/call '{"name":"create_books","arguments":{"isbn":"978-0-14-118126-4","title":"Emma","author":"Jane Austen"}}')" '"structuredContent":' "a row of its table"
has "$(ask tools/call '{"name":"check_isbn","arguments":{"isbn":"978-0-306-40615-7"}}')" 'is right' "a command"
has "$(ask prompts/get '{"name":"recommend","arguments":{"author":"{{mood}}"}}')" 'the books of {{mood}}. ' "PR_08 what an argument holds is not looked at again"
has "$(ask prompts/get '{"name":"recommend","arguments":{"author":"A"}}')" 'It should be surprising.' "a default"
has "$(ask prompts/get '{"name":"recommend","arguments":{"author":"A","mood":""}}')" 'It should be .' "an argument that is given as empty stays so"

# ---- read again
note two
soon "a change is offered" shown resources/read '{"uri":"note://a"}' '"text":"two"'
has "$(ask resources/read '{"uri":"note://none"}')" '"code":-32002' "and nothing else"
echo 'from a file' >notes/p.txt
note two "$prompt"
soon "a new prompt is offered" shown prompts/list '{}' '"name":"p"'
has "$(ask prompts/get '{"name":"p"}')" 'from a file' "its text is a file's"
echo 'another one' >notes/p.txt
soon "a change of that file is seen, too" shown prompts/get '{"name":"p"}' 'another one'
note three '{"name": 5}'
soon "a faulty change is logged" logged "notes/component.json:2: /prompts/0/name: expected string"
soon "and that the old offers stay" logged "what was offered stays"
has "$(ask resources/read '{"uri":"note://a"}')" '"text":"two"' "what was offered stays"
has "$(ask prompts/get '{"name":"p"}')" 'another one' "all of it"
is "$(grep -c 'prompts/0/name: expected string' "$tmp/serve.log")" 1 "the fault is logged once"
read -ra children <"/proc/$server/task/$server/children"
kill -9 "${children[@]}"
soon "processes that start meanwhile leave out what is wrong" logged "what is wrong is left out until it is mended"
soon "and offer the rest" shown tools/list '{}' '"check_isbn"'
note three
soon "it is mended" shown resources/read '{"uri":"note://a"}' '"text":"three"'
is "$(ask prompts/list '{}' | jq -c '[.prompts[].name]')" '["recommend"]' "what is gone is gone"
touch -d '2020-01-01' notes/component.json
soon "the time of the file alone is a change" logged "is offered"
kill -HUP "$server"
soon "SIGHUP reads the settings again" logged "SIGHUP: "
has "$(ask resources/read '{"uri":"note://a"}')" '"text":"three"' "and nothing is lost"

# ---- files that clients subscribe to
mkdir -p texts
echo one >texts/a.md
echo '{"resources": [{"uri": "text://a", "name": "a", "file": "a.md", "subscribable": true}],
 "resourceTemplates": [{"uriTemplate": "text://all/{name}", "name": "t", "file": {"path": "{{name}}.md"}, "subscribable": true}]}' >texts/component.json
ok "the server ends well" stop
ok "serve with files" serve d --workers 2 --component "$books" --component notes --component texts
session
has "$(ask resources/read '{"uri":"text://a"}')" '"text":"one\n"' "a file is read"
is "$(ask resources/subscribe '{"uri":"text://a"}')" '{}' "and subscribed to"
is "$(ask resources/subscribe '{"uri":"text://all/a"}')" '{}' "so is one of a template"
has "$(ask resources/subscribe '{"uri":"note://a"}')" '"code":-32602' "but not a text"
curl -sSN -m 120 -H "$session" -H 'Accept: text/event-stream' "$url" >events &
reap $!
soon "a stream is open" test -s events
echo two >texts/a.md
told() { grep -qF "$1" events; }
soon "its change is told" told '"uri":"text://a"'
soon "under each of its URIs" told '"uri":"text://all/a"'
has "$(ask resources/read '{"uri":"text://a"}')" '"text":"two\n"' "it reads as it is now"
note five "$prompt"
soon "a list that has changed is told" told 'notifications/prompts/list_changed'

# ---- tables
mkdir -p shop
table() { # table MEMBERS ATTRIBUTES
    printf '{"tables": [{"table": "shop.t", "primaryKey": "id", %s\n"schema": {"type": "object", "properties": {"id": {"type": "string"}, %s}, "additionalProperties": false}}]}' "$1" "$2" >shop/.new
    mv shop/.new shop/component.json
}
table '' '"a": {"type": "string"}'
ok "apply makes a table beside a server" "$TENON" component apply --data d --component shop
soon "which it shows at once" shown tools/list '{}' '"get_t"'
has "$(ask tools/call '{"name":"create_t","arguments":{"id":"1","a":"x"}}')" '"structuredContent":' "with a row"
table '"indexes": [{"on": ["a"]}],' '"a": {"type": "string"}, "b": {"type": "integer"}'
ok "apply changes it" "$TENON" component apply --data d --component shop
is "$("$TENON" index list --data d shop.t | head -1 | awk '{print $1}')" "by_a" "and makes its index"
has "$("$TENON" table describe --data d shop.t)" '"b"' "and has the new attribute"
before=$("$TENON" table describe --data d shop.t | grep -i version)
ok "apply changes nothing that is right" "$TENON" component apply --data d --component shop
is "$("$TENON" table describe --data d shop.t | grep -i version)" "$before" "its version is the same"
table '' '"a": {"type": "integer"}'
out=$("$TENON" component apply --data d --component shop 2>&1)
is "$?" 1 "rows that do not fit: status"
has "$out" 'shop/component.json:1: /tables/0: ' "rows that do not fit: the place"
has "$("$TENON" table describe --data d shop.t)" '"b"' "nothing was changed"
table '"indexes": [{"name": "by_a", "on": ["-a"]}],' '"a": {"type": "string"}, "b": {"type": "integer"}'
out=$("$TENON" component apply --data d --component shop 2>&1)
has "$out" "shop/component.json:1: /tables/0: the index by_a is there as " "an index that is another one there"
table '"indexes": [{"on": ["none"]}],' '"a": {"type": "string"}'
out=$("$TENON" component check shop 2>&1)
has "$out" "shop/component.json:1: /tables/0/indexes/0/on/0: expected an attribute of the schema" "check judges tables, too"
out=$("$TENON" component check shop/component.json 2>&1)
has "$out" "Not a directory" "a file is no folder"
table '"mcp": false,' '"a": {"type": "string"}'
ok "apply hides it" "$TENON" component apply --data d --component shop
ok "no client sees it any more" until_true 30 eval '! shown tools/list {} get_t'
has "$(ask resources/read '{"uri":"db://shop/t/1"}')" '"code":-32002' "nor its rows"
has "$("$TENON" table list --data d)" "shop.t" "the operator does"
ok "the server ends well" stop

# ---- stdio
initialize='{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"test","version":"1"}}}'
read_a='{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":"note://a"}}'
out=$(printf '%s\n' "$initialize" '{"jsonrpc":"2.0","method":"notifications/initialized"}' "$read_a" |
    timeout 60 "$TENON" stdio --data e --component notes 2>stdio.log)
has "$out" '"text":"five"' "stdio takes a folder"
mkfifo in out
timeout 120 "$TENON" stdio --data e --component notes <in >out 2>stdio.log &
reap $!
exec 8>in 9<out
line() { read -rt 30 line <&9; }
printf '%s\n' "$initialize" >&8
line
note four
four() {
    printf '%s\n' "$read_a" >&8
    while line; do
        [[ "$line" == *'"id":1'* ]] && break
    done
    [[ "$line" == *four* ]]
}
ok "stdio reads a folder again, too" until_true 30 four
exec 8>&- 9<&-

# ---- settings
echo "{\"components\": [\"$books\"], \"dataDir\": \"f\"}" >settings.json
ok "apply takes the components of the settings" "$TENON" component apply --config settings.json
has "$("$TENON" table list --config settings.json)" "library.books" "and makes their tables"
out=$("$TENON" component apply --data g 2>&1)
has "$out" "no component is given" "apply of nothing"
plan
