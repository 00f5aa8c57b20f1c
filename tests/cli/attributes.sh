#!/bin/bash
# tests/cli/attributes.sh - imports and exports see what is hidden from clients; an import fills in
# defaults and times where they are missing, keeps those that are given, and takes no version.
. "$(dirname "$0")/../tap.bash"
. "$(dirname "$0")/says.bash"
cd "$tmp" || exit 1

t() { "$TENON" "$1" "${@:2}" --data d; } # t COMMAND ARGUMENT...

cat >members.json <<'END'
{"primaryKey": "id",
 "attributes": {"id": {"default": "uuid"}, "secret": {"hidden": true, "default": {"value": "none"}},
   "nick": {"nullable": true}, "made": {"role": "createdTime"}, "changed": {"role": "updatedTime"},
   "rev": {"role": "version"}},
 "schema": {"type": "object", "properties": {
   "id": {"type": "string"}, "name": {"type": "string"}, "secret": {"type": "string"},
   "nick": {"type": "string"}, "made": {"type": "string", "format": "date-time"},
   "changed": {"type": "integer"}, "rev": {"type": "integer"}},
  "required": ["name", "secret"], "additionalProperties": false}}
END
sed 's/"rev": {"role"/"rve": {"role"/' members.json >wrong.json
says "a definition that says something of no attribute names the line" 1 "wrong.json:4: " \
    "$TENON" table create shop.members wrong.json --data d
ok "create" "$TENON" table create shop.members members.json --data d

echo '{"name": "Ann"}' >ann.ndjson
says "import of what lacks all that is filled in" 0 "imported 1 rows" t import shop.members ann.ndjson
t export shop.members >out.ndjson
has "$(cat out.ndjson)" '"secret":"none"' "export sees what is hidden, and the default is there"
ok "the key is a UUID, the times are those of now" \
    grep -qE '"id":"[0-9a-f-]{36}".*"made":"20[0-9-]{8}T[0-9:.]{12}Z","changed":1[0-9]{12}' out.ndjson
ok "no version is stored" eval '! grep -q rev out.ndjson'

echo '{"id": "b", "name": "Bob", "secret": "s", "nick": null, "made": "1999-01-01T00:00:00Z", "changed": 5}' >bob.ndjson
says "import of what has all" 0 "imported 1 rows" t import shop.members bob.ndjson
is "$(t export shop.members --format ndjson | grep Bob)" \
    '{"id":"b","name":"Bob","secret":"s","nick":null,"made":"1999-01-01T00:00:00Z","changed":5}' \
    "what is given is kept"
echo '{"id": "c", "name": "Cid", "rev": 7}' >cid.ndjson
says "import of a version is refused, with its line" 1 "cid.ndjson:1: /rev: additionalProperties" \
    t import shop.members cid.ndjson

t export shop.members --format csv >out.csv
is "$(head -1 out.csv)" '"id","name","secret","nick","made","changed"' "CSV has no column for the version"
says "what was exported comes back over itself" 0 "imported 2 rows" \
    t import shop.members out.csv --replace
t export shop.members --format csv | cmp -s - out.csv
is $? 0 "and is the same"
plan
