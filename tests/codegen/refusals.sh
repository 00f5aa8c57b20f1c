#!/bin/bash
# tests/codegen/refusals.sh - the generator on small inputs: right ones give the C that is kept in
# tiny/generated, wrong ones the message, its file and its line, and no output.
. "$(dirname "$0")/../tap.bash"
cd "$top/tests/codegen" || exit 1
TENON_GEN=$(cd "$top" && realpath "$TENON_GEN")

# a fresh copy of the tiny specification in $spec
fresh() {
    spec=$tmp/spec
    rm -rf "$spec" "$tmp/out"
    cp -r tiny/spec "$spec"
}
generate() { "$TENON_GEN" generate --spec "$1" --out "$2" --sources "$top/codegen"; }

# refused NAME MESSAGE: what $spec holds now is refused with that message and writes nothing
refused() {
    local said status
    said=$(generate "$spec" "$tmp/out" 2>&1)
    status=$?
    is "$status" 1 "$1: exit status 1"
    has "$said" "$2" "$1: says where and why"
    ok "$1: writes nothing" test ! -e "$tmp/out"
    fresh
}
# line FILE TEXT: number of the first line that holds it
line() { grep -nF -- "$2" "$spec/$1" | head -1 | cut -d: -f1; }
one=one/schema.json
edit() { sed -i "$2" "$spec/$1"; } # edit FILE SED
overlay() { echo "$1" >>"$spec/overlay.mcp"; }

fresh
ok "tiny: generates" generate "$spec" "$tmp/out"
ok "tiny: gives the C that is kept" diff -r -x MANIFEST tiny/generated "$tmp/out"
compiles() {
    local c
    for c in "$tmp"/c/generated/*/*.c "$tmp"/c/generated/*.c; do
        gcc -std=gnu11 -Wall -Wextra -Werror -Wno-unused-function -fsyntax-only -D_GNU_SOURCE \
            -I"$tmp/c" -I"$top/runtime" "$c" || return 1
    done
}
mkdir -p "$tmp/c" && cp -r "$tmp/out" "$tmp/c/generated"
ok "tiny: compiles without a warning" compiles
touch -d '2001-01-01' "$tmp/out/types.h"
ok "tiny: again" generate "$spec" "$tmp/out"
is "$(stat -c %Y "$tmp/out/types.h")" "$(date -d '2001-01-01' +%s)" "tiny: a file that says the same is left alone"

fresh
edit $one 's/"maximum": 10/"maximum": 10, "multipleOf": 2/'
refused "unknown keyword" "$spec/$one:$(line $one multipleOf): unknown keyword \"multipleOf\""

edit $one 's/"description": "what to echo"/"oneOf": []/'
refused "keyword beside a reference" 'unknown keyword "oneOf"'

edit $one 's|definitions/Mood"|definitions/Mode"|'
refused "reference to nothing" "$spec/$one:$(line $one '"mood"'): no definition is called \"Mode\""

edit $one 's/"minimum": 0/"minimum": "0"/'
refused "keyword of a wrong type" "$spec/$one:$(line $one '"volume"'): \"minimum\": expected a number, found string"

edit $one 's/"type": "integer"/"type": "int"/'
refused "unknown type" "$spec/$one:$(line $one '"volume"'): \"type\": expected the name of a JSON type"

edit $one 's/"required": \["side"\]/"required": ["edge"]/'
refused "required but not described" '"required" names "edge", which is no property'

edit $one 's/{ "side": { "type": "number" }, /{ "side": { "type": "number" }, "Side": { "type": "number" }, /'
refused "two names, one C name" "\"Side\" and \"side\" are both \"side\" in C"

edit $one 's/"required": \["side"\],/"required": ["radius"],/; s/{ "side": { "type": "number" }/{ "radius": { "type": "number" }/'
refused "unresolvable union" "$spec/$one:$(line $one '"Shape": {'): union \"Shape\": nothing tells its alternatives apart"

edit overlay.mcp 's/^struct Shape holds.*//'
refused "stored union without a struct" 'union "Shape" is stored, but "Circle" has another struct'

edit two/schema.json 's/"type": "boolean"/"type": "string"/; s/"loud"/"mood2"/'
edit two/schema.json '/"radius": {/,/}/ s/"number"/"string"/'
refused "a member of two types" '"Shape.radius" is "struct str" here and "double" at'

edit $one 's/{ "type": "string", "const": "echo" }/{ "type": "integer", "const": "echo" }/'
refused "fixed value of another type" "$spec/$one:$(line $one '"method": {'): the fixed value is not of the type given"

edit $one '1s/{/{ "extra": 1,/'
refused "keyword at the top" "$spec/$one:1: unknown keyword \"extra\""

edit $one '$d'
refused "truncated schema" "$spec/$one:"

rm "$spec/$one"
refused "missing schema" "$spec/$one:"

overlay 'raw Nothing;'
refused "overlay line that names nothing" "$spec/overlay.mcp:$(wc -l <"$spec/overlay.mcp"): \"Nothing\" names nothing in the schemas"

overlay 'method shout { from client; handler none; }'
refused "unknown method" "$spec/overlay.mcp:$(wc -l <"$spec/overlay.mcp"): no schema has a method \"shout\""

edit overlay.mcp '/^method/,$d'
refused "method without a line" "$spec/$one:$(line $one '"EchoRequest": {'): method \"echo\" has no line in $spec/overlay.mcp"

edit overlay.mcp 's/from client/from server/'
refused "method from the wrong side" "method \"echo\": the schemas say it comes from client"

overlay 'method echo { from client; }'
refused "method twice" "$spec/overlay.mcp:$(wc -l <"$spec/overlay.mcp"): method \"echo\" stands here a second time"

edit overlay.mcp 's/flags progress/flags sideways/'
refused "unknown flag" "$spec/overlay.mcp:$(line overlay.mcp 'flags'): no flag is called \"sideways\""

edit overlay.mcp 's/from client;/result Nothing; from client;/'
refused "result that is not there" "method \"echo\": no result is called \"Nothing\""

overlay 'raw Square since three;'
refused "unknown revision" "$spec/overlay.mcp:$(wc -l <"$spec/overlay.mcp"): no revision is called \"three\""

overlay 'raw Square'
refused "statement cut short" "$spec/overlay.mcp:$(($(wc -l <"$spec/overlay.mcp") + 1)): the statement does not go on with"

overlay 'raw @;'
refused "a byte that means nothing" "$spec/overlay.mcp:$(wc -l <"$spec/overlay.mcp"): a byte that means nothing here"

edit overlay.mcp 's/glad calm bad/glad bad/'
refused "order that leaves out a value" 'leaves out values'

edit overlay.mcp 's/glad calm bad/glad calm bad mad/'
refused "order of a value that is not there" "$spec/overlay.mcp:$(line overlay.mcp 'order'): \"mad\" names nothing in the schemas"

overlay 'union Shape { Circle when has radius; }'
refused "union line that leaves out an alternative" 'no line of the overlay says when it is "Square"'

overlay 'union Shape { Circle when has radius; Square otherwise; Cube when has edge; }'
refused "union line of a stranger" "\"Cube\" is no alternative of this union"

overlay 'name EchoRequest.params to Circle;'
refused "a name that is taken" '"Circle" is also the name of something else'

is "$("$TENON_GEN" generate --nonsense 2>/dev/null; echo $?)" 2 "a wrong call has exit status 2"
has "$("$TENON_GEN" --help)" "tenon-gen generate" "--help lists the commands"
has "$("$TENON_GEN" --version)" "tenon-gen " "--version"

# ---- traps 19 and 20 of acceptance/SCHEMA.md section 4
edit $one 's/, "description": "what to echo"//'
generate "$spec" "$tmp/plain"
ok "trap_19: a description beside a reference says nothing" diff -r -x MANIFEST tiny/generated "$tmp/plain"

published() { # the specification with the published files instead of the imported ones
    mkdir -p "$tmp/published"
    cp "$top/spec/overlay.mcp" "$tmp/published/"
    local revision
    for revision in 2025-03-26 2025-06-18 2025-11-25 2026-07-28; do
        mkdir -p "$tmp/published/$revision"
        cp "$shared/spec/official/$revision/schema.json" "$tmp/published/$revision/"
    done
    generate "$tmp/published" "$tmp/generated"
}
name="trap_20: descriptions say nothing: published and imported files give the same bytes"
if [ -d "$shared/spec/official" ]; then
    published
    ok "$name" diff -r "$top/generated" "$tmp/generated"
else
    skip "$name" "$shared/spec/official is missing (set TENON_SHARED)"
fi
plan
