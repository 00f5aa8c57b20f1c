#!/bin/bash
# tests/cli/table.sh - tenon table describe and alter: the way round, rows that break, what is
# refused by line, Ctrl-C.
. "$(dirname "$0")/../tap.bash"
. "$(dirname "$0")/says.bash"
cd "$tmp" || exit 1
table() { "$TENON" table "$1" "${@:2}" --data d; }
rows() { "$TENON" export --data d "geo.$1" --format ndjson; }

cat >places.json <<'END'
{"title": "Places \"here\", [and] {there}", "primaryKey": "id",
 "indexes": [{"name": "by_kind", "on": ["kind"]}, {"on": ["-height", "name"], "unique": true}],
 "schema": {"type": "object", "properties": {
   "id": {"type": "integer"}, "name": {"type": "string"}, "kind": {"type": "string", "enum": ["city", "hill"]},
   "height": {"type": "number"}, "anything": {}},
  "required": ["name"]}}
END
table create geo.places places.json >/dev/null
printf '{"id": %d, "name": "n%d", "kind": "city", "height": %d}\n' 1 1 10 2 2 20 3 3 30 >rows.ndjson
"$TENON" import --data d geo.places rows.ndjson >/dev/null

# ---- describe
described=$(table describe geo.places)
is "$(jq -c '[.database, .table, .rows, .version]' <<<"$described")" '["geo","places",3,1]' "describe: names, rows, version"
is "$(jq -c '.definition.indexes' <<<"$described")" \
    '[{"name":"by_kind","on":["kind"]},{"name":"by_height_name","on":["-height","name"],"unique":true}]' \
    "describe: the indexes"
is "$(jq -S '.definition | del(.indexes)' <<<"$described")" "$(jq -S 'del(.indexes)' places.json)" "describe: the rest as it was written"
table describe --definition geo.places >again.json
is "$(jq -S . again.json)" "$(jq -S .definition <<<"$described")" "describe --definition: only that"
has "$(cat again.json)" '        "enum": ["city", "hill"]' "describe: indented, short lists on one line"
says "describe of a table unknown" 1 "there is no table geo.nope in d (tenon table list shows all)" table describe geo.nope
says "describe without a database" 1 "nowhere: No such file" "$TENON" table describe geo.places --data nowhere
says "describe of a bad name" 2 "not a table: geo" table describe geo
[ -w /dev/full ] && says "describe to a full disk" 1 "No space left" bash -c "'$TENON' table describe geo.places --data d >/dev/full"

# ---- alter, in good order
says "alter by what was described" 0 "altered geo.places" table alter geo.places again.json
table create geo.copy again.json >/dev/null
is "$(table describe --definition geo.copy)" "$(table describe --definition geo.places)" "create by what was described"
jq '.schema.properties.kind.enum += ["lake"] | .title = "Other"' again.json >wider.json
says "alter to a wider schema" 0 "altered geo.places" table alter geo.places wider.json
is "$(table describe geo.places | jq -c '[.rows, .definition.title, .definition.schema.properties.kind.enum]')" \
    '[3,"Other",["city","hill","lake"]]' "it is as altered"
echo '{"id": 4, "name": "n4", "kind": "lake"}' >lake.ndjson
says "rows by the new definition" 0 "imported 1 rows" "$TENON" import --data d geo.places lake.ndjson

# ---- rows that break
before=$(table describe geo.places)
unchanged() { is "$(table describe geo.places)" "$before" "$1: nothing was changed"; }
says "alter that one row breaks" 1 "geo.places: 1 row does not fit the new definition: nothing was changed" \
    table alter geo.places again.json
has "$(table alter geo.places again.json 2>&1)" 'row 4: /kind: enum, expected "city"|"hill"' "it is told by key, place and what was expected"
unchanged "alter that one row breaks"
seq -f '{"id": %.0f, "name": "many"}' 100 119 >many.ndjson
"$TENON" import --data d geo.places many.ndjson >/dev/null
before=$(table describe geo.places)
jq '.schema.required = ["name", "height"]' wider.json >narrow.json
says "alter that many rows break: their count" 1 "21 rows do not fit the new definition" table alter geo.places narrow.json
out=$(table alter geo.places narrow.json 2>&1)
is "$(grep -c '^row ' <<<"$out")" 10 "alter that many rows break: ten are told"
has "$out" "... and 11 more" "alter that many rows break: and how many more"
has "$out" "row 4: /height: required" "alter that many rows break: the first"
unchanged "alter that many rows break"

# ---- definitions that are none
printf '{"primaryKey": "id",\n "schema": {"type": "object",\n  "properties": {"id": {"type": "intege"}}}}\n' >wrong.json
says "alter by an unknown type names the line" 1 "wrong.json:3: /schema/properties/id/type: type" table alter geo.places wrong.json
printf '{"primaryKey": "id",\n}\n' >broken.json
says "alter by broken JSON names the line" 1 "broken.json:2: " table alter geo.places broken.json
says "alter by a missing file" 1 "nowhere.json: " table alter geo.places nowhere.json
says "alter of a table unknown" 1 "there is no table geo.nope" table alter geo.nope wider.json
printf '{"title": "x",\n "primaryKey": "name",\n "schema": {"type": "object", "properties": {"id": {"type": "integer"}, "name": {"type": "string"}, "kind": {"type": "string"}, "height": {"type": "number"}}}}\n' >key.json
says "alter of the primary key names the line" 1 "key.json:2: /primaryKey: " table alter geo.places key.json
printf '{"primaryKey": "id",\n "schema": {"type": "object",\n "properties": {"id": {"type": "integer"}, "name": {"type": "string"}, "kind": {"type": "string"}}}}\n' >gone.json
says "alter that takes an index its attribute" 1 "by_height_name" table alter geo.places gone.json
jq '.indexes += [{"on": ["name"]}]' wider.json >more.json
says "alter with an index that is not there" 1 "/indexes: indexes, expected those that are there" table alter geo.places more.json
printf '{"primaryKey": "id",\n "schema": {"type": "object", "properties": {"id": {"type": "integer"}}},\n "indexes": [\n  {"on": ["nope"]}]}\n' >index.json
says "create with an index on an unknown attribute names the line" 1 "index.json:4: /indexes/0/on/0: " table create geo.bad index.json
echo '{"primaryKey": "id", "schema": {"type": "object", "properties": {"id": {"type": "integer"}}}, "indexs": []}' >extra.json
says "alter by a key that is unknown" 1 "extra.json:1: /indexs: " table alter geo.places extra.json
unchanged "definitions that are none"

# ---- attributes
cat >notes.json <<'END'
{"primaryKey": "id",
 "attributes": {"secret": {"hidden": true}, "made": {"role": "createdTime"},
                "kind": {"default": {"value": "note"}}, "text": {"nullable": true}},
 "schema": {"type": "object", "properties": {"id": {"type": "integer"}, "secret": {"type": "string"},
   "made": {"type": "string"}, "kind": {"type": "string"}, "text": {"type": "string"}}}}
END
ok "create with attributes" table create geo.notes notes.json
is "$(table describe --definition geo.notes | jq -S .)" "$(jq -S . notes.json)" "describe has them, hidden ones too"
table describe --definition geo.notes >notes2.json
says "alter by what was described, with attributes" 0 "altered geo.notes" table alter geo.notes notes2.json
sed "s/nullable/nulable/" notes.json >bad.json
says "an unknown property of an attribute names the line" 1 "bad.json:3: /attributes/text/nulable: " table alter geo.notes bad.json
sed "s/createdTime/madeTime/" notes.json >bad.json
says "an unknown role names the line" 1 "bad.json:2: /attributes/made/role: " table create geo.bad bad.json
sed "s/\"secret\": {\"hidden/\"nobody\": {\"hidden/" notes.json >bad.json
says "an attribute that the schema lacks names the line" 1 "bad.json:2: /attributes/nobody" table create geo.bad bad.json

# ---- many rows: progress, Ctrl-C, kill -9. The new schema takes long to check, so that the change is
# still under way when it is stopped.
"$TENON" table create --data d geo.many places.json >/dev/null
seq 100000 | sed 's/.*/{"id": &, "name": "n&", "height": &}/' >many.ndjson
"$TENON" import --data d geo.many many.ndjson >/dev/null 2>&1
jq '.schema.properties.name.allOf = [range(1000) | {pattern: "^n[0-9]*.?$"}]' wider.json >slow.json
before=$(table describe geo.many)
mkfifo keys
env --default-signal=INT script -qefc "exec $TENON table alter geo.many slow.json --data d" screen <keys >/dev/null 2>&1 &
pid=$!
exec 8>keys
ok "alter: progress on a terminal" until_true 20 grep -qE '[0-9]+ of 100000 rows' screen
printf '\003' >&8
wait "$pid"
exec 8>&-
is "$(table describe geo.many)" "$before" "alter, Ctrl-C: nothing was changed"

is_at_work() { # is_at_work BIT: it handles this signal, which it does from the first row on
    (("0x$(sed -n 's/^SigCgt:[[:space:]]*//p' "/proc/$pid/status")" & $1))
}
alter_slowly() { # $pid
    env --default-signal=INT "$TENON" table alter geo.many slow.json --data d >out 2>&1 &
    pid=$!
    until_true 20 is_at_work 2
}
ok "alter, to be interrupted" alter_slowly
kill -INT "$pid"
wait "$pid"
is "$?" 1 "alter, SIGINT: status"
is "$(cat out)" "tenon: geo.many: it was cancelled, and nothing was changed" "alter, SIGINT: message, and no progress without a terminal"
is "$(table describe geo.many)" "$before" "alter, SIGINT: nothing was changed"
ok "alter, to be killed" alter_slowly
kill -9 "$pid"
wait "$pid" 2>/dev/null
is "$(table describe geo.many)" "$before" "alter, kill -9: nothing was changed"
has "$("$TENON" doctor --data d)" "all of it agrees" "alter, kill -9: doctor finds nothing"
says "and it may be altered" 0 "altered geo.many" table alter geo.many wider.json
plan
