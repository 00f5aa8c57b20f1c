#!/bin/bash
# tests/cli/index.sh - tenon index create, list and drop: on rows that are there, over doubles, with
# progress on a terminal, stopped by Ctrl-C and by kill -9.
. "$(dirname "$0")/../tap.bash"
. "$(dirname "$0")/says.bash"
cd "$tmp" || exit 1
index() { "$TENON" index "$1" "${@:2}" --data d; }

cat >places.json <<'END'
{"primaryKey": "id", "schema": {"type": "object", "properties": {
   "id": {"type": "integer"}, "name": {"type": "string"}, "kind": {"type": "string"}, "height": {"type": "number"},
   "at": {"type": "object", "properties": {"city": {"type": "string"}}}, "tags": {"type": "array"}}}}
END
"$TENON" table create --data d geo.places places.json >/dev/null
says "list of none" 0 "geo.places has no indexes" index list geo.places
seq 60 | sed 's/.*/{"id": &, "name": "n&", "kind": "k", "height": &}/' >rows.ndjson
echo '{"id": 61, "height": 7}' >>rows.ndjson
"$TENON" import --data d geo.places rows.ndjson >/dev/null

# ---- create, list, drop
says "create" 0 "created index by_kind on geo.places" index create geo.places kind
says "create of two attributes, the first turned round" 0 "created index by_height_name" index create geo.places -height,name
says "create with a name, unique" 0 "created index names on geo.places" index create --unique --name names geo.places name
says "create into an object" 0 "created index by_at_city" index create geo.places at.city
is "$(index list geo.places)" $'by_kind\tkind\t\nby_height_name\t-height,name\t\nnames\tname\tunique\nby_at_city\tat.city\t' "list"
has "$("$TENON" table describe --data d geo.places)" '"on": ["-height", "name"]' "describe has them"
is "$("$TENON" doctor --data d)" "ok    d: 1 tables, 61 rows, 4 indexes with 244 entries, 62 changes of the log: all of it agrees" "doctor has nothing to say"
echo '{"id": 62, "name": "n5"}' >double.ndjson
says "a row that a unique index refuses" 1 "double.ndjson:1: " "$TENON" import --data d geo.places double.ndjson
says "drop" 0 "dropped index by_kind of geo.places" index drop geo.places by_kind
says "drop twice" 1 "geo.places has no index by_kind" index drop geo.places by_kind
is "$(index list geo.places | cut -f1 | tr '\n' ' ')" "by_height_name names by_at_city " "list without it"

# ---- what is refused
before=$(index list geo.places)
says "unique over doubles tells both keys" 1 \
    "geo.places: the rows with id 7 and id 61 have the same values, so by_height cannot be unique" \
    index create --unique geo.places height
says "create twice" 1 "there is an index names already" index create --name names geo.places kind
says "an unknown attribute" 1 'geo.places: "nope": ' index create geo.places kind,nope
says "an attribute that has no order" 1 'geo.places: "tags": ' index create geo.places tags
says "an empty attribute" 1 'geo.places: "": ' index create geo.places kind,,name
says "an attribute twice" 1 'geo.places: ' index create geo.places kind,-kind
says "a bad name" 1 "name" index create --name 5x geo.places kind
says "too many attributes" 1 "geo.places: " index create geo.places id,name,kind,height,at.city,-id,-name,-kind,-height
says "a table unknown" 1 "there is no table geo.nope" index create geo.nope kind
says "a table unknown: list" 1 "there is no table geo.nope" index list geo.nope
says "a table unknown: drop" 1 "there is no table geo.nope" index drop geo.nope x
says "no attribute" 2 "missing arguments" index create geo.places
says "no database" 1 "nowhere: No such file" "$TENON" index list geo.places --data nowhere
is "$(index list geo.places)" "$before" "what was refused left nothing"

# ---- long builds
seq 250000 | sed 's/.*/{"id": &, "name": "a name &", "kind": "k"}/' >many.ndjson
"$TENON" table create --data d geo.many places.json >/dev/null
"$TENON" import --data d geo.many many.ndjson >/dev/null 2>&1
clean() { # clean NAME: no index, and nothing of one
    is "$(index list geo.many 2>/dev/null)" "" "$1: no index is left"
    has "$("$TENON" doctor --data d)" "3 indexes with 183 entries, 250063 changes of the log: all of it agrees" "$1: doctor finds nothing"
}
mkfifo keys
env --default-signal=INT script -qefc "exec $TENON index create geo.many name --data d" screen <keys >/dev/null 2>&1 &
pid=$!
exec 8>keys
ok "progress on a terminal" until_true 20 grep -qE '[0-9]+ of 250000 rows' screen
printf '\003' >&8
wait "$pid"
is "$?" 1 "Ctrl-C: status"
exec 8>&-
has "$(cat screen)" "it was cancelled, and nothing of the index stays" "Ctrl-C: message"
clean "Ctrl-C"

is_building() { index list geo.many 2>/dev/null | grep -q "being built"; }
"$TENON" index create geo.many name --data d >out 2>&1 &
pid=$!
ok "list shows one that is being built" until_true 20 is_building
says "a second build beside it" 1 "geo.places: another index is being built" index create geo.places kind
kill -TERM "$pid"
wait "$pid"
is "$?" 1 "SIGTERM: status"
is "$(cat out)" "tenon: geo.many: it was cancelled, and nothing of the index stays" "SIGTERM: message, and no progress without a terminal"
clean "SIGTERM"

"$TENON" index create geo.many name --data d >out 2>&1 &
pid=$!
ok "another" until_true 20 is_building
kill -9 "$pid"
wait "$pid" 2>/dev/null
says "after kill -9 doctor finds nothing, but tells" 0 "note  an index is being built, or its building was cut off" "$TENON" doctor --data d
says "the next one who writes drops it, and may build" 0 "created index by_name" index create geo.many name
has "$("$TENON" doctor --data d)" "4 indexes with 250183 entries" "it is whole"
plan
