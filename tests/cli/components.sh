#!/bin/bash
# tests/cli/components.sh - components as an operator meets them: loaded by serve and stdio, called
# over the wire, refused at start with the file and the reason.
. "$(dirname "$0")/../tap.bash"
built=$(dirname "$TENON")
example=$built/examples/hello.so
cd "$tmp" || exit 1

refused() { # refused NAME PART ARGUMENT...: serve ends at once, and stderr says PART
    local name=$1 part=$2 out got
    shift 2
    out=$(timeout 20 "$TENON" serve --data other --listen 127.0.0.1:0 "$@" 2>&1 </dev/null)
    got=$?
    is "$got" 1 "$name: status"
    has "$out" "$part" "$name: message"
}
build() { cc -std=c11 -fPIC -shared -I"$top/runtime" -o "$1" -x c -; }
call() { # call TOOL ARGUMENTS: the result
    mcp "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"$1\",\"arguments\":$2}}" "$session" |
        sed -n 's/^data: //; /^{/p' | tail -1 | jq -c '.result // .error'
}
read_uri() {
    mcp "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"resources/read\",\"params\":{\"uri\":\"$1\"}}" "$session" |
        jq -c '.result // .error'
}

# ---- tenon.h
printf '#include <tenon.h>\nTENON_COMPONENT\nint tenon_component(struct tenon *tenon) { (void)tenon; return 0; }\n' >alone.c
ok "tenon.h compiles alone as strict C11" cc -std=c11 -pedantic -Wall -Wextra -Werror -I"$top/runtime" -fsyntax-only alone.c
ok "tenon.h compiles alone as C++" c++ -pedantic -Wall -Wextra -Werror -I"$top/runtime" -x c++ -fsyntax-only alone.c
is "$(grep -h '^#include' "$top/runtime/tenon.h" | sort | tr '\n' ' ')" \
    "#include <stdbool.h> #include <stddef.h> #include <stdint.h> " "tenon.h includes nothing else"
ok "tenon.h is short" test "$(wc -l <"$top/runtime/tenon.h")" -lt 450

# ---- the example
ok "serve loads the example" serve d --workers 2 --component "$example"
session
has "$(mcp '{"jsonrpc":"2.0","id":1,"method":"tools/list"}' "$session" | jq -c '[.result.tools[].name]')" \
    '"ask_name","count","fetch","greet","roll"' "its tools are listed"
has "$(call greet '{"name":"World"}')" '"text":"Hello, World!"' "greet"
has "$(call greet '{}')" '"code":-32602' "greet without its argument"
has "$(call roll '{"sides":2}')" '"structuredContent":{"rolled":' "roll"
has "$(call count '{"to":2}')" 'Counted to 2.' "count"
has "$(call ask_name '{}')" 'cannot ask its user' "ask_name of a client that cannot"
has "$(call fetch '{}')" '"type":"resource_link"' "fetch"
has "$(read_uri hello://about)" 'A component to copy.' "a resource"
has "$(read_uri hello://greeting/Ada%20L)" 'Hello, Ada L!' "a template"
has "$(read_uri hello://nothing)" '"code":-32002' "no such resource"
request() { # request METHOD PARAMS: its result or error
    mcp "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"$1\",\"params\":$2}" "$session" | jq -c '.result // .error'
}
has "$(request prompts/list '{}')" '"name":"welcome"' "its prompt is listed"
has "$(request prompts/get '{"name":"welcome","arguments":{"name":"Ada"}}')" 'Write a welcome for Ada in English.' "a prompt"
has "$(request prompts/get '{"name":"welcome"}')" 'Missing required argument: name' "a prompt without its argument"
has "$(request completion/complete '{"ref":{"type":"ref/prompt","name":"welcome"},"argument":{"name":"language","value":"G"}}')" \
    '"values":["German","Greek"]' "an argument is completed"
out=$(mcp '{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"count","arguments":{"to":3},"_meta":{"progressToken":"t1"}}}' "$session" | sed -n 's/^data: //p' | jq -c 'select(.method == "notifications/progress").params | [.progressToken, .progress, .total]' | tr '\n' ' ')
is "$out" '["t1",1,3] ["t1",2,3] ["t1",3,3] ' "count tells its progress on the call's stream"
stop
is "$?" 0 "it stops in good order"

# ---- by the settings file, and on stdio
printf '{"components": ["%s"]}' "$example" >settings.json
out=$(printf '%s\n' '{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}' \
    '{"jsonrpc":"2.0","method":"notifications/initialized"}' \
    '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"greet","arguments":{"name":"pipe"}}}' |
    timeout 20 "$TENON" stdio --data d --config settings.json 2>/dev/null)
has "$out" 'Hello, pipe!' "stdio loads what the settings file names"

# ---- refused
refused "a file that is not there" "component ./none.so: ./none.so: cannot open" --component ./none.so
printf 'no object' >text.so
refused "a file that is no object" "component text.so: ./text.so: " --component text.so
echo 'int x;' | build nothing.so
refused "an object that is no component" "it is no component" --component nothing.so
printf '#include <stdint.h>\nconst uint32_t tenon_component_abi = 99;' | build newer.so
refused "another version" "compiled with version 99 of tenon.h, this server has 2" --component newer.so
printf '#include <tenon.h>\nTENON_COMPONENT' | build no_entry.so
refused "no entry" "no function tenon_component" --component no_entry.so
printf '#include <tenon.h>\nTENON_COMPONENT\nint tenon_component(struct tenon *t) { (void)t; return TENON_ERR_FAILED; }' | build fails.so
refused "one that fails" "component fails.so: tenon_component returned -1: Failed" --component fails.so
printf '#include <tenon.h>\n#include <stdlib.h>\nTENON_COMPONENT\nint tenon_component(struct tenon *t) { (void)t; abort(); }' | build dies.so
refused "one that dies" "a component ended its process by signal 6" --component dies.so
with_tool() { # with_tool FILE NAME SCHEMA
    printf '#include <tenon.h>\nTENON_COMPONENT\nstatic int run(struct tenon_call *c, void *x) { (void)x; return tenon_text(c, "x"); }\nint tenon_component(struct tenon *t) { return tenon_add_tool(t, &(struct tenon_tool){.name = "%s", .description = "d", .input_schema = "%s", .run = run}); }' "$2" "$3" | build "$1"
}
with_tool schema.so a '{\"type\":\"object\",\"properties\":{\"x\":{\"type\":7}}}'
refused "a schema that cannot be used" "component schema.so: tool a: inputSchema/properties/x/type" --component schema.so
with_tool greet.so greet '{\"type\":\"object\"}'
refused "a name that another component has" "component greet.so: tool greet: another one has this name" \
    --component "$example" --component greet.so
echo '{"primaryKey": "id", "schema": {"type": "object", "properties": {"id": {"type": "string"}}}}' >thing.json
ok "a table" "$TENON" table create --data other shop.thing thing.json
with_tool clash.so get_thing '{\"type\":\"object\"}'
refused "a name that a table's tool has" "component clash.so: tool get_thing: the table shop.thing has a tool of this name" \
    --component clash.so

# ---- a tool that does not look whether it is cancelled
say() { # say ID METHOD PARAMS
    printf '{"jsonrpc":"2.0",%s"method":"%s","params":%s}\n' "$1" "$2" "$3"
}
{
    say '"id":1,' initialize '{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"c","version":"1"}}'
    say '' notifications/initialized '{}'
    say '"id":2,' tools/call '{"name":"stick","arguments":{}}'
} >stuck.jsonl
timeout -s KILL 60 "$TENON" stdio --data other --component "$built/tests/multi/live.so" <stuck.jsonl >/dev/null 2>stuck.log
is $? 0 "stdio ends with its input, though a call does not"
has "$(cat stuck.log)" "the process ends without it" "and says so"
plan
