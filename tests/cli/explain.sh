#!/bin/bash
# tests/cli/explain.sh - tenon explain: which index serves a search, what is to be advised, and what
# is refused.
. "$(dirname "$0")/../tap.bash"
. "$(dirname "$0")/says.bash"
cd "$tmp" || exit 1
explain() { "$TENON" explain geo.places --data d "$@"; }
asked() { # asked FILTER OF JQ ARGUMENT...
    local filter=$1
    shift
    explain "$@" | jq -c "$filter"
}

cat >places.json <<'END'
{"primaryKey": "id", "indexes": [{"on": ["kind", "-height"]}, {"name": "names", "on": ["name"], "unique": true}],
 "schema": {"type": "object", "properties": {
   "id": {"type": "integer"}, "name": {"type": "string"}, "kind": {"type": "string"}, "height": {"type": "number"}}}}
END
"$TENON" table create --data d geo.places places.json >/dev/null
is "$(asked .access)" '"scan"' "without a filter all is read"
is "$(asked .access --where 'id = 5')" '"primary"' "the primary key"
is "$(asked '[.access, .index]' --where "name = 'x'")" '["index","names"]' "an index"
is "$(asked '[.access, .index, .ordered]' --where "kind = 'hill' and height > 10" --order-by=-height)" \
    '["index","by_kind_height",true]' "an index of two attributes, in its order"
is "$(asked .access --where 'height > 10')" '"scan"' "no index serves"
has "$(explain --where 'height > 10')" height "the attribute to index is advised"
says "a filter that is none" 1 "geo.places: " explain --where 'kind = '
says "an unknown attribute" 1 "nope" explain --where 'nope = 1'
says "an unknown order" 1 "order_by/1: expected an attribute" explain --order-by name,nope
says "a table unknown" 1 "there is no table geo.nope" "$TENON" explain geo.nope --data d
says "no table" 2 "missing arguments" "$TENON" explain
says "no database" 1 "nowhere: No such file" "$TENON" explain geo.places --data nowhere
plan
