#!/bin/bash
# tests/cli/commands.sh - tools that are commands, and resources that are files, as clients of a
# server with two workers meet them: what they cannot do with them, and what is left of them.
. "$(dirname "$0")/../tap.bash"
cd "$tmp" || exit 1

mkdir -p c/notes
cat >c/component.json <<'END'
{
  "tools": [
    {"name": "show", "description": "Its words", "exec": {"argv": ["/usr/bin/printf", "[%s]", "{{a}}", ["-n", "{{n}}"]]},
     "inputSchema": {"type": "object", "properties": {"a": {"type": "string"}, "n": {"type": "integer"}}, "required": ["a"]}},
    {"name": "steps", "description": "Progress", "exec": {"argv": ["./steps"], "output": "lines"}},
    {"name": "long", "description": "Runs long, and ignores SIGTERM", "exec": {"argv": ["./long", "{{id}}"], "output": "lines", "timeoutMs": 600000},
     "inputSchema": {"type": "object", "properties": {"id": {"type": "string"}}, "required": ["id"]}},
    {"name": "made", "description": "Structured", "exec": {"argv": ["/bin/cat", "made.json"], "output": "json"},
     "outputSchema": {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}},
    {"name": "bad", "description": "Fails", "exec": {"argv": ["/bin/sh", "-c", "echo 'No such city'; echo of no use >&2; exit 3"]}}
  ],
  "resources": [
    {"uri": "file:///about", "name": "about", "file": "about.md", "subscribable": true}
  ],
  "resourceTemplates": [
    {"uriTemplate": "note:{id}", "name": "notes", "file": {"folder": "notes", "path": "{{id}}.md"}, "subscribable": true},
    {"uriTemplate": "all:{+path}", "name": "all", "file": {"folder": "notes", "path": "{{path}}"}}
  ]
}
END
cat >c/steps <<'END'
#!/bin/sh
echo '{"progress": 1, "total": 2, "message": "one"}'
echo '{"log": {"step": 1}, "level": "notice"}'
echo '{"progress": 2, "total": 2}'
echo '{"result": {"content": [{"type": "text", "text": "done"}]}}'
END
# the command, its child and a grandchild: c/ID.1 to c/ID.3 hold their numbers
cat >c/long <<'END'
#!/bin/sh
trap 'echo heard >"$1.heard"' TERM
sh -c 'trap "" TERM; sleep 600 & echo $! >"$0.3"; echo $$ >"$0.2"; wait; sleep 600' "$1" &
until [ -s "$1.2" ]; do :; done
echo $$ >"$1.1"
echo '{"progress": 1}'
while :; do sleep 0.1; done
END
chmod +x c/steps c/long
echo '{"structuredContent": {"n": 7}}' >c/made.json
echo '# About' >c/about.md
echo 'one' >c/notes/one.md
echo 'secret' >c/secret.md
ln -s ../secret.md c/notes/link.md
mkfifo c/notes/fifo.md

request() { # request METHOD PARAMS [ID]
    echo "{\"jsonrpc\":\"2.0\",\"id\":${3:-1},\"method\":\"$1\",\"params\":$2}"
}
answer() { sed -n 's/^data: //; /^{/p' | tail -1 | jq -c '.result // .error'; }
call() { mcp "$(request tools/call "{\"name\":\"$1\",\"arguments\":$2}")" "$session" | answer; }
read_uri() { mcp "$(request resources/read "{\"uri\":\"$1\"}")" "$session" | answer; }
text_of() { call "$1" "$2" | jq -r '.content[0].text'; }
long() { # long ID NUMBER: begins a call and comes back when it runs
    mcp "$(request tools/call "{\"name\":\"long\",\"arguments\":{\"id\":\"$1\"},\"_meta\":{\"progressToken\":\"$1\"}}" "$2")" "$session" >"$1.out" 2>&1 &
    until_true 30 test -s "c/$1.1"
}
ended() { # ended ID: none of the three runs
    local file pid
    for file in "c/$1.1" "c/$1.2" "c/$1.3"; do
        pid=$(cat "$file") || return 1
        [ -d "/proc/$pid" ] && ! grep -q '^State:[[:space:]]*[ZX]' "/proc/$pid/status" && return 1
    done
    return 0
}
runs() { for n in 1 2 3; do [ -d "/proc/$(cat "c/$1.$n")" ] || return 1; done; }
worker_of() { awk '/^PPid/{print $2}' "/proc/$(cat "c/$1.1")/status"; }

ok "serve loads the folder" serve d --workers 2 --component c
session

# ---- words
is "$(text_of show '{"a":"x; $(id) `id` | > f\n\"'"'"'* ~"}')" '[x; $(id) `id` | > f
"'"'"'* ~]' "an argument is one word, whatever it holds"
is "$(text_of show '{"a":"1","n":2}')" '[1][-n][2]' "words that need an argument"
has "$(call show '{"a":"-e"}')" '"isError":true' "an argument is no option"
has "$(call show '{"a":"\u0000"}')" 'must not hold U+0000' "an argument with NUL"
has "$(call show '{"a":7}')" '"code":-32602' "arguments are checked by the schema first"
is "$(call bad '{}')" '{"content":[{"text":"The command failed with exit status 3: No such city","type":"text"}],"isError":true}' "a failure"
has "$(cat serve.log)" "exec bad: of no use" "what it says on stderr is logged"
has "$(call made '{}')" '"structuredContent":{"n":7}' "a structured result"
echo '{"structuredContent": {"n": "7"}}' >c/made.json
has "$(call made '{}')" '"code":-32603' "one that breaks its outputSchema"
echo '{"structuredContent": {"n": 7' >c/made.json
has "$(call made '{}')" "The command's output is wrong" "one that is not JSON"

# ---- progress, cancellation
out=$(mcp "$(request tools/call '{"name":"steps","arguments":{},"_meta":{"progressToken":"t"}}')" "$session" | sed -n 's/^data: //p')
# two within 10 ms become one, the newer
steps=$(jq -c 'select(.method == "notifications/progress").params | [.progress, .total, .message]' <<<"$out" | tr '\n' ' ')
is "${steps#'[1,2,"one"] '}" '[2,2,null] ' "lines of progress"
is "$(jq -c 'select(.method == "notifications/message").params | [.level, .data]' <<<"$out")" '["notice",{"step":1}]' "a line for the log"
is "$(tail -1 <<<"$out" | jq -c .result)" '{"content":[{"text":"done","type":"text"}]}' "and the result"

ok "a long command begins" long one 11
ok "it runs, and what it started" runs one
mcp '{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":11}}' "$session" >/dev/null
ok "a cancellation ends all three, though they ignore SIGTERM" until_true 30 ended one
ok "which it has heard" test -s c/one.heard

# ---- a worker is killed
ok "another one begins" long two 12
worker=$(worker_of two)
ok "its parent is a worker" grep -q "^Name:[[:space:]]*tenon worker" "/proc/$worker/status"
kill -KILL "$worker"
ok "what a killed worker had started is ended" until_true 30 ended two
ok "and the server goes on" until_true 30 eval '[ "$(text_of show "{\"a\":\"still\"}")" = "[still]" ]'

# ---- many
for i in $(seq 300); do
    printf 'next\nurl="%s"\nheader="Content-Type: application/json"\nheader="Accept: application/json"\nheader="%s"\nmax-time=60\nsilent\ndata="%s"\n' \
        "$url" "$session" "$(request tools/call "{\"name\":\"show\",\"arguments\":{\"a\":\"n$i\"}}" "$i" | sed 's/"/\\"/g')"
done | tail -n +2 >many
curl -Z --parallel-max 300 -K many >many.out 2>/dev/null
is "$(grep -o '\[n[0-9]*\]' many.out | sort -u | wc -l)" 300 "300 at once are all answered"

# ---- files
is "$(read_uri file:///about | jq -c '.contents[0] | [.mimeType, .text]')" '["text/markdown","# About\n"]' "a file"
is "$(read_uri note:one | jq -r '.contents[0].text')" one "a file by its variable"
for uri in note:two note:..%2Fsecret note:%2e%2e%2fsecret note:link note:fifo note: note:%00 note:one%00 \
    all:../secret.md all:%2e%2e/secret.md all:link.md all:/etc/passwd all:/proc/self/environ all:.. all:fifo.md all:one.md/; do
    has "$(read_uri "$uri")" '"code":-32002' "not found: $uri"
done
is "$(read_uri all:one.md | jq -r '.contents[0].text')" one "one that is there"

# ---- changes of files
told() { sed -n 's/^data: //p' events 2>/dev/null | jq -r 'select(.method == "notifications/resources/updated").params.uri' | sort | tr '\n' ' '; }
subscribe() { mcp "$(request resources/subscribe "{\"uri\":\"$1\"}")" "$session" | answer; }
is "$(subscribe file:///about)" '{}' "a file is subscribed to"
is "$(subscribe note:one)$(subscribe note:new)$(subscribe note:gone)" '{}{}{}' "files of a template, also one to come"
has "$(subscribe all:one.md)" '"code":-32602' "not one that is not subscribable"
curl -sN -m 100 -H 'Accept: text/event-stream' -H "$session" "$url" >events 2>/dev/null &
reap $!
echo gone >c/notes/gone.md
ok "a file that comes is told" until_true 40 eval '[ "$(told)" = "note:gone " ]'
echo 'two' >c/notes/new && mv c/notes/new c/notes/one.md
echo '# Again' >>c/about.md
echo 'new' >c/notes/new.md
echo 'other' >c/notes/other.md
rm c/notes/gone.md
ok "files that change, come and go are told, each once" until_true 40 eval \
    '[ "$(told)" = "file:///about note:gone note:gone note:new note:one " ]'
is "$(read_uri note:one | jq -r '.contents[0].text')" two "what is read is new by then"

# ---- the end of the server
ok "one more begins" long three 13
kill -TERM "$server"
ok "the end of a server ends its commands" until_true 60 ended three
wait "$server"
is "$?" 0 "in good order"
is "$(told)" "file:///about note:gone note:gone note:new note:one " "nothing was told twice"
# ---- while there was none
echo 'three' >c/notes/one.md
echo 'not subscribed' >c/notes/other.md
ok "it starts again" serve d --workers 2 --component c
curl -sN -m 60 -H 'Accept: text/event-stream' -H "$session" "$url" >events 2>/dev/null &
reap $!
ok "what changed while no server ran is told" until_true 40 eval '[ "$(told)" = "note:one " ]'
kill -KILL "$server" && wait "$server" 2>/dev/null
ok "no guard is left" until_true 30 eval '! pgrep -f "^$TENON serve --data d " >/dev/null'

# ---- stdio
{
    request initialize '{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"c","version":"1"}}' 0
    echo '{"jsonrpc":"2.0","method":"notifications/initialized"}'
    request tools/call '{"name":"long","arguments":{"id":"four"},"_meta":{"progressToken":1}}' 2
    until_true 30 test -s c/four.1
    echo '{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":2}}'
    until_true 30 ended four
    request tools/call '{"name":"show","arguments":{"a":"by stdio"}}' 3
} | timeout 90 "$TENON" stdio --data d --component c >stdio.out 2>/dev/null
ok "stdio ends in good order" test "${PIPESTATUS[1]}" = 0
ok "a cancelled command is ended on stdio" ended four
is "$(jq -c 'select(.id == 2)' stdio.out)" "" "and not answered"
is "$(jq -r 'select(.id == 3).result.content[0].text' stdio.out)" "[by stdio]" "others are"
ok "the command's progress is told" test "$(jq -c 'select(.method == "notifications/progress")' stdio.out | wc -l)" = 1
plan
