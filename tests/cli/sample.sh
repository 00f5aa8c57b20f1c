#!/bin/bash
# tests/cli/sample.sh - the sample data of `make run` loads whole, and once.
. "$(dirname "$0")/../tap.bash"
export TENON
lists=/usr/share/iso-codes/json
rows() { "$TENON" export --data "$tmp/d" "geo.$1" --format ndjson; }

ok "sample: it loads" "$top/runtime/sample/load" "$tmp/d"
for pair in countries:3166-1 subdivisions:3166-2 languages:639-3 currencies:4217; do
    list=${pair#*:}
    is "$(rows "${pair%:*}" | wc -l)" "$(jq ".[\"$list\"] | length" "$lists/iso_$list.json")" \
        "sample: ${pair%:*} has every entry of ISO $list"
done
is "$(rows countries | jq -c 'select(.code == "IT") | [.code3, .name]')" '["ITA","Italy"]' \
    "sample: a country"
is "$(rows subdivisions | jq -c 'select(.code == "IT-25") | [.country, .name]')" '["IT","Lombardia"]' \
    "sample: a subdivision names its country"
before=$("$TENON" table list --data "$tmp/d")
is "$("$top/runtime/sample/load" "$tmp/d" 2>&1)" "" "sample: a second load does nothing"
is "$("$TENON" table list --data "$tmp/d")" "$before" "sample: and changes nothing"
plan
