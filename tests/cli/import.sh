#!/bin/bash
# tests/cli/import.sh - tables, imports of each format, exports, and what is refused, by line.
. "$(dirname "$0")/../tap.bash"
. "$(dirname "$0")/says.bash"
cd "$tmp" || exit 1

t() { "$TENON" "$1" "${@:2}" --data d; }               # t COMMAND ARGUMENT...
table() { "$TENON" table "$1" "${@:2}" --data d; }     # table create|list|drop ...
rows() { table list | sed -n "s/^geo.$1\t//p"; }

cat >places.json <<'END'
{"title": "Places", "primaryKey": "id", "indexed": ["kind"],
 "schema": {"type": "object", "properties": {
   "id": {"type": "integer"}, "name": {"type": "string"}, "kind": {"type": "string", "enum": ["city", "hill"]},
   "height": {"type": "number"}, "capital": {"type": "boolean"}, "tags": {"type": "array"}},
  "required": ["name"]}}
END

says "list without a database" 1 "d: " table list
ok "create" table create geo.places places.json
says "create twice is refused" 1 "geo.places is there already" table create geo.places places.json
ok "create --if-missing is content" table create --if-missing geo.places places.json
printf '{"primaryKey": "id",\n "schema": {"type": "object",\n  "properties": {"id": {"type": "strin"}}}}\n' >wrong.json
says "create by a definition with an unknown type names the line" 1 "wrong.json:3: " \
    table create geo.wrong wrong.json
printf '{"primaryKey": "id",\n}\n' >broken.json
says "create by broken JSON names the line" 1 "broken.json:2: " table create geo.wrong broken.json
says "create by a missing file" 1 "nowhere.json: " table create geo.wrong nowhere.json
says "create by a bad name" 2 "not a table: geo.a-b" table create geo.a-b places.json
is "$(rows places)" "0 rows" "the new table is empty, and no other was made"
is "$(table list | wc -l)" 1 "one table is listed"

# ---- each format, whole
cat >good.json <<'END'
[{"id": 1, "name": "Rome", "kind": "city", "height": 21.5, "capital": true, "tags": ["a", 1]},
 {"id": 2, "name": "Testaccio, \"hill\"", "kind": "hill"}]
END
printf '%s\n' '{"id": 3, "name": "Ostia"}' '' '{"id": -4, "name": "x", "tags": []}' >good.ndjson
printf 'id,name,capital,height,tags\n5,"a ""b"", c",false,1e3,"[1,{""k"":null}]"\n6,007,,,\n' >good.csv
says "import of a JSON array" 0 "imported 2 rows into geo.places" t import geo.places good.json
says "import of NDJSON" 0 "imported 2 rows" t import geo.places good.ndjson
says "import of CSV" 0 "imported 2 rows" t import geo.places good.csv
says "import from standard input" 0 "imported 1 rows" \
    t import geo.places - --format ndjson < <(echo '{"id": 7, "name": "y"}')
is "$(rows places)" "7 rows" "all rows are there"
echo '{"a": [0], "data": {"rows": [{"nr": 8, "name": "A-Z"}]}, "z": 1}' >deep.json
says "import with --root, --rename and --prefix" 0 "imported 1 rows" \
    t import geo.places deep.json --root /data/rows --rename nr=id --prefix first=name:-
has "$(t export geo.places --format ndjson)" '"first":"A"' "--prefix made an attribute"

# ---- export, and the way back
t export geo.places all.json >/dev/null
is "$(jq -c '[.[].id]' all.json)" "[-4,1,2,3,5,6,7,8]" "export as JSON is in key order"
is "$(jq -c '.[] | select(.id == 1)' all.json)" \
    '{"id":1,"name":"Rome","kind":"city","height":21.5,"capital":true,"tags":["a",1]}' "a row as it was"
for format in json ndjson csv; do
    t export geo.places "all.$format" >/dev/null
    table create "geo.back_$format" places.json >/dev/null
    says "what was exported as $format can be imported" 0 "imported 8 rows" \
        t import "geo.back_$format" "all.$format"
    [ "$format" = csv ] && continue # has no column for attributes outside the definition
    is "$(t export "geo.back_$format" --format ndjson)" "$(t export geo.places --format ndjson)" \
        "and is the same ($format)"
done
is "$(t export geo.back_csv --format ndjson | jq -Sc 'del(.first)')" \
    "$(t export geo.places --format ndjson | jq -Sc 'del(.first)')" "and is the same (csv)"
says "export to a folder that is not there" 1 "nowhere/x.json" t export geo.places nowhere/x.json
says "export of a format unknown" 2 "give --format" t export geo.places x.txt
says "export of a table unknown" 1 "there is no table geo.nope" t export geo.nope
is "$(ls | grep -c part)" 0 "no partial file is left"
[ -w /dev/full ] && says "export to a full disk" 1 "No space left" bash -c "'$TENON' export geo.places --data d >/dev/full"

# ---- bad records: told by line, and nothing is imported
before=$(rows places)
bad() { # bad NAME FILE PART
    says "bad record: $1" 1 "$3" t import geo.places "$2"
    is "$(rows places)" "$before" "bad record: $1: nothing was imported"
}
printf '[{"id": 100, "name": "x"},\n {"id": 101,\n  "name": 5}]' >bad.json
bad "JSON, a type" bad.json "bad.json:2: /name: type, expected string"
printf '[{"id": 100, "name": "x"},\n {"id": 101,\n  "name": nul}]' >bad.json
bad "JSON, syntax" bad.json "bad.json:3: not valid JSON"
printf '[{"id": 100, "name": "x"}\n' >bad.json
bad "JSON, cut off" bad.json "bad.json:2: expected ',' or ']'"
printf '{"id": 100, "name": "x"}\n{"id": 101}\n' >bad.ndjson
bad "NDJSON, an attribute missing" bad.ndjson "bad.ndjson:2: /name: required"
printf '{"id": 100, "name": "x"}\n{"name": "x"}\n' >bad.ndjson
bad "NDJSON, no primary key" bad.ndjson "bad.ndjson:2: /id"
printf 'id,name\n100,x\n\n1o1,y\n' >bad.csv
bad "CSV, no number" bad.csv "bad.csv:4: id: \"1o1\" does not fit its type"
printf 'id,name\n100,x\n101\n' >bad.csv
bad "CSV, a cell missing" bad.csv "bad.csv:3: 1 cells, but the header names 2 columns"
printf 'id,name,kind\n100,x,city\n101,y,"sea\nside"\n' >bad.csv
bad "CSV, not of the enum, in a record of two lines" bad.csv "bad.csv:3: /kind: enum"
printf '{"id": 100, "name": "x"}\n{"id": 1, "name": "again"}\n' >bad.ndjson
bad "a key that the table has" bad.ndjson "bad.ndjson:2: a row with this primary key exists"
printf '{"id": 100, "name": "x"}\n\n{"id": 100, "name": "again"}\n' >bad.ndjson
bad "a key twice in the file" bad.ndjson "bad.ndjson:3: a row with this primary key exists"
{ seq -f '{"id": %.0f, "name": "many"}' 1000 6000; echo '{"id": 3500, "name": "again"}'; } >bad.ndjson
bad "a key twice, far apart, in a load of many batches" bad.ndjson "bad.ndjson:5002: a row with"
says "import into no table" 1 "there is no table geo.nope" t import geo.nope good.json
says "import of no file" 1 "nowhere.json: No such file" t import geo.places nowhere.json
says "import of a folder" 1 "is a directory" t import geo.places d --format json
says "import of a format unknown" 2 "give --format" t import geo.places places.txt

# ---- going on in spite of them, and over what is there
printf '{"id": 100, "name": "x"}\n{"id": 101}\nnull\n{"id": 102, "name": "z"}\n' >some.ndjson
says "--skip-bad imports the rest" 0 "imported 2 rows into geo.places, left out 2 bad records" \
    t import --skip-bad geo.places some.ndjson
says "--skip-bad tells what it leaves out" 0 "some.ndjson:2: /name: required" \
    t import --skip-bad --replace geo.places some.ndjson
echo '{"id": 1, "name": "Roma"}' >over.ndjson
says "--replace overwrites" 0 "imported 1 rows" t import --replace geo.places over.ndjson
has "$(t export geo.places --format ndjson)" '{"id":1,"name":"Roma"}' "the row is the new one"

seq -f '{"id": %.0f, "name": "many"}' 10000 30000 >many.ndjson
says "an import of many batches" 0 "imported 20001 rows" t import geo.places many.ndjson

# ---- rejects: every bad record with its line, the reason and itself
cat >people.json <<'END'
{"primaryKey": "id", "indexes": [{"name": "once_email", "on": ["email"], "unique": true}],
 "schema": {"type": "object", "properties": {
   "id": {"type": "string"}, "email": {"type": "string"}, "age": {"type": "integer", "minimum": 0}}}}
END
table create geo.people people.json >/dev/null
echo '{"id": "a", "email": "a@x"}' >seed.ndjson
t import geo.people seed.ndjson >/dev/null
long=$(printf 'k%.0s' {1..600})
cat >mixed.ndjson <<END
{"id": "b", "email": "b@x", "age": 3}
{"id": "c", "age": -1}
{"id": "d", "email": }
{"id": "a", "email": "z@x"}
[1]
{"id": "e", "email": "a@x"}
{"id": "f", "email": "b@x"}
{"id": "b", "email": "y@x"}
{"id": "$long"}
{"id": "g", "email": "$long"}
{"id": "h"}
END
sed -n "1p;7p" mixed.ndjson >dup.ndjson
says "a unique value twice in the file stops an import, by its line" 1 \
    "dup.ndjson:2: another row has the same email (unique index once_email)" t import geo.people dup.ndjson
is "$(rows people)" "1 rows" "and nothing was imported"
says "--reject imports the rest and tells both counts" 0 \
    "imported 2 rows into geo.people, left out 9 bad records, see out.ndjson" \
    t import geo.people mixed.ndjson --reject out.ndjson
is "$(jq -r .id <(t export geo.people --format ndjson) | paste -sd' ')" "a b h" "the good rows are there"
is "$(jq -c '[.line, .pointer, .keyword]' out.ndjson | sort -V | paste -sd' ')" \
    '[2,"/age","minimum"] [3,"","syntax"] [4,"/id","exists"] [5,"","syntax"] [6,"/email","unique"] [7,"/email","unique"] [8,"/id","exists"] [9,"/id","length"] [10,"/email","limit"]' \
    "each reject has line, pointer and keyword"
is "$(jq -c 'select(.line == 6) | .record' out.ndjson)" '{"id":"e","email":"a@x"}' "and the record itself"
is "$(jq -r 'select(.line == 3) | .text' out.ndjson)" '{"id": "d", "email": }' "or its text where it is no JSON"
has "$(jq -r 'select(.line == 2) | .reason' out.ndjson)" "/age: minimum, expected" "and the reason for people"
jq -c 'select(.keyword == "unique") | .record | .email = .id' out.ndjson >mended.ndjson
says "mended rejects can be imported" 0 "imported 2 rows" t import geo.people mended.ndjson --reject out.ndjson
ok "a reject file without rejects is empty" test -f out.ndjson -a ! -s out.ndjson
printf 'id,email,age\nq,"two\nlines",x\nr,r@x,1\n' >cells.csv
says "rejects of CSV" 0 "imported 1 rows into geo.people, left out 1" t import geo.people cells.csv --reject out.ndjson
is "$(jq -r .text out.ndjson)" $'q,"two\nlines",x' "keep the text of all lines of a record"
printf '[{"id": "s"}, {"id": 5}, {"id": "t"}' >cut.json
cp out.ndjson before.ndjson
says "a file that breaks off stops --reject too" 1 "nothing was imported" t import geo.people cut.json --reject out.ndjson
ok "and leaves the reject file as it was" cmp -s out.ndjson before.ndjson
says "--reject onto the file itself" 2 "is the file to be imported" t import geo.people seed.ndjson --reject seed.ndjson
says "--reject into no folder" 1 "nowhere/out: No such file" t import geo.people seed.ndjson --reject nowhere/out
{ printf '{"id": "wide", "email": "e@x", "more": "'; head -c 1100000 /dev/zero | tr '\0' x; echo '"}'; } >wide.ndjson
wide="the row has 1100029 bytes as it is stored, and a row may have 1048576"
says "a row that is too large stops an import, with its size" 1 "wide.ndjson:1: $wide" t import geo.people wide.ndjson
says "or is left out" 0 "wide.ndjson:1: $wide" t import geo.people wide.ndjson --skip-bad
{ printf '{"id": "many", "more": [0'; head -c 140000 /dev/zero | sed 's/\x00/,1/g'; echo ']}'; } >wide.ndjson
says "so is one of too many values" 1 "the row has 140006 values and names, and a row may have 131072" \
    t import geo.people wide.ndjson
mkdir out.d
says "--reject onto a folder" 1 "out.d: Is a directory" t import geo.people mixed.ndjson --reject out.d
ok "imports nothing" test "$(rows people)" = "6 rows"
"$TENON" table create geo.people people.json --data small >/dev/null
for i in {1..300}; do printf '{"id": %d, "email": "%s%s"}\n' "$i" "$long" "$long"; done >many_bad.ndjson
echo '{"id": "good"}' >>many_bad.ndjson
(trap '' XFSZ; ulimit -f 200; "$TENON" import geo.people many_bad.ndjson --reject out.full --data small) >said.out 2>said.err
is $? 1 "--reject onto a full disk"
has "$(cat said.err)" "out.full: File too large" "says so"
is "$(cat said.out)" "" "and no more"
has "$("$TENON" table list --data small)" $'\t0 rows' "and imports nothing"
is "$(find . -name 'out.full*')" "" "and leaves nothing"
# a folder takes the name of the rejects while the rows are loaded
{ echo '{"id": 5}'; seq -f '{"id": "n%06.0f"}' 1 30000; } >named.ndjson
mkfifo told
"$TENON" import geo.people named.ndjson --reject out.late --data small >said.out 2>told &
exec 3<told
read -r _ <&3 && kill -STOP $! && mkdir out.late && kill -CONT $!
wait $!
is $? 1 "--reject onto a name that is taken meanwhile"
has "$(cat <&3)" "out.late: Is a directory; what should be in it is in $(echo out.late.*.part)" "tells where it is"
exec 3<&-
is "$(cat said.out)" "imported 30000 rows into geo.people, left out 1 bad records" "after what was done"
is "$(jq -c .record out.late.*.part)" '{"id":5}' "and there it is"
rm -r out.late*
seq -f '{"id": "n%06.0f"}' 1 3000 >again.ndjson
t import geo.people again.ndjson >/dev/null
seq -f '{"id": "n%06.0f"}' 2001 5000 >again.ndjson
says "keys that exist are left out of many batches" 0 "imported 2000 rows into geo.people, left out 1000" \
    t import geo.people again.ndjson --skip-bad
ok "doctor finds nothing" "$TENON" doctor --data d
is "$(ls | grep -c '\.part$')" 0 "no partial file is left"

# ---- attributes that are filled in, hidden, nullable, or the server's
cat >notes.json <<'END'
{"primaryKey": "id", "schema": {"type": "object", "properties": {
   "id": {"type": "string"}, "text": {"type": "string"}, "kind": {"type": "string"}, "secret": {"type": "string"},
   "made": {"type": "string"}, "changed": {"type": "integer"}, "version": {"type": "integer"}},
   "required": ["kind"], "additionalProperties": false},
 "attributes": {"id": {"default": "uuid"}, "text": {"nullable": true}, "kind": {"default": {"value": "plain"}},
   "secret": {"hidden": true}, "made": {"role": "createdTime"}, "changed": {"role": "updatedTime"},
   "version": {"role": "version"}}}
END
ok "a table with attributes of all kinds" table create geo.notes notes.json
printf '%s\n' '{"text": null}' '{"id": "b", "kind": "x", "secret": "s", "made": "2020-01-02T03:04:05.678Z"}' >notes.ndjson
says "an import fills in what is missing" 0 "imported 2 rows" t import geo.notes notes.ndjson
t export geo.notes notes.out.ndjson >/dev/null
is "$(jq -c 'select(.id != "b") | [(.id | length), .text, .kind, (.made | length), .changed > 1700000000000]' notes.out.ndjson)" \
    '[36,null,"plain",24,true]' "with defaults and times"
is "$(jq -c 'select(.id == "b") | [.kind, .secret, .made]' notes.out.ndjson)" \
    '["x","s","2020-01-02T03:04:05.678Z"]' "and takes what is given, of hidden attributes and times as well"
echo '{"id": "c", "version": 4}' >version.ndjson
says "a version cannot be imported" 1 "version.ndjson:1: /version: " t import geo.notes version.ndjson
echo '{"id": "c", "kind": null}' >null.ndjson
says "null where it is not allowed" 1 "null.ndjson:1: /kind: type" t import geo.notes null.ndjson
for format in ndjson csv json; do
    t export geo.notes "notes.out.$format" >/dev/null
    table create "geo.notes_$format" notes.json >/dev/null
    says "notes come back from $format" 0 "imported 2 rows" t import "geo.notes_$format" "notes.out.$format"
    is "$(t export "geo.notes_$format" --format ndjson | jq -Sc 'del(.text)')" \
        "$(t export geo.notes --format ndjson | jq -Sc 'del(.text)')" "and are the same ($format)"
done

# ---- CSV and back, where an attribute's type is not said by a plain "type"
cat >kinds.json <<'END'
{"primaryKey": "id", "attributes": {"ref_null": {"nullable": true}},
 "schema": {"type": "object", "$defs": {"count": {"$ref": "#/$defs/whole"}, "whole": {"type": "integer"},
     "far": {"$id": "far", "type": "array", "items": {"type": "integer"}}},
   "properties": {
   "id": {"$ref": "#/$defs/count", "type": "integer"}, "ref": {"$ref": "#/$defs/count"}, "by_id": {"$ref": "far"},
   "any": {"anyOf": [{"type": "boolean"}, {"$ref": "#/$defs/count"}]}, "one": {"oneOf": [{"type": "object"}, {"type": "null"}]},
   "all": {"allOf": [{"type": "number"}, {"minimum": 1}]}, "choice": {"enum": [1, 2.5, true, [3]]},
   "digits": {"enum": ["1", "2", null]}, "same": {"const": {"a": [1, "x,\"y\""]}}, "name": {"anyOf": [{"type": "string"}, {"type": "null"}]},
   "ref_null": {"$ref": "#/$defs/whole"}, "open": {}}}}
END
table create geo.kinds kinds.json >/dev/null
cat >kinds.ndjson <<'END'
{"id": 1, "ref": 7, "by_id": [1, 2], "any": true, "one": {"k": "v"}, "all": 1.5, "choice": 1, "digits": "1", "same": {"a": [1, "x,\"y\""]}, "name": "007", "ref_null": 3, "open": "a, b"}
{"id": 2, "ref": -7, "by_id": [], "any": 12, "all": 3, "choice": 2.5, "digits": "2", "name": "", "open": "true"}
{"id": 3, "choice": true, "any": false, "name": "[1]"}
{"id": 4, "choice": [3], "name": "null"}
END
says "rows of all kinds of types" 0 "imported 4 rows" t import geo.kinds kinds.ndjson
t export geo.kinds kinds.csv >/dev/null
t export geo.kinds kinds.before.ndjson >/dev/null
says "what is exported as CSV comes back by \$ref, anyOf, enum and const" 0 "imported 4 rows" \
    t import --replace geo.kinds kinds.csv
is "$(t export geo.kinds --format ndjson | jq -Sc .)" "$(jq -Sc . kinds.before.ndjson)" "and is the same"
printf 'id,ref\n9,x\n' >bad.csv
says "a cell that is not of the type behind a \$ref" 1 "bad.csv:2: ref: \"x\" does not fit its type" \
    t import geo.kinds bad.csv

says "drop without a word" 2 "give --yes" table drop geo.places </dev/null
has "$(script -qec "exec $TENON table drop geo.places --data d" /dev/null <<<n)" "was left alone" "drop asks on a terminal"
ok "drop --yes" table drop --yes geo.places
says "drop twice" 1 "there is no table geo.places" table drop --yes geo.places
is "$(rows places)" "" "it is gone"
plan
