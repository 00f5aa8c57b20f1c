#!/bin/bash
# tests/wire/fixture.bash - the tables that the transcripts speak of, in the data directory $DATA:
# shop.book (integer key, nested object, enum, bounds; 4 rows) and shop.note (text key; 3 rows).
set -eu
here=$(dirname "$0")
for table in book note; do
    "$TENON" table create --data "$DATA" "shop.$table" "$here/fixture/$table.json"
    "$TENON" import --data "$DATA" "shop.$table" "$here/fixture/$table.ndjson"
done
