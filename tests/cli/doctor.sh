#!/bin/bash
# tests/cli/doctor.sh - tenon doctor --data: whole and damaged databases, in use and after kill -9.
# Damage that only a program can do is in tests/unit/test_cli_doctor.c.
. "$(dirname "$0")/../tap.bash"
. "$(dirname "$0")/says.bash"
cd "$tmp" || exit 1

doctor() { "$TENON" doctor --data "$1"; }

cat >places.json <<'END'
{"primaryKey": "id", "schema": {"type": "object", "properties": {"id": {"type": "integer"}, "name": {"type": "string"}}}}
END
"$TENON" table create --data d geo.places places.json >/dev/null
seq -f '{"id": %.0f, "name": "a name"}' 5000 >rows.ndjson
"$TENON" import --data d geo.places rows.ndjson >/dev/null

# ---- whole
says "a whole database" 0 "ok    d: 1 tables, 5000 rows, 0 indexes with 0 entries, 5001 changes of the log: all of it agrees" doctor d
before=$(md5sum d/data.mdb)
echo '{"dataDir": "d"}' >config.json
says "the data directory of a settings file" 0 "ok    d: 1 tables" "$TENON" doctor --config config.json
is "$(md5sum d/data.mdb)" "$before" "nothing was written"
[ "$(id -u)" = 0 ] || { chmod 500 d; says "a directory that cannot be written to" 0 "ok    d:" doctor d; chmod 700 d; }

# ---- in use
serve d --workers 2 || exit 1
says "beside a server" 0 "ok    d: 1 tables, 5000 rows" doctor d
ok "the server goes on" curl -sS -m 5 -o /dev/null "$url"
stop

# ---- killed
seq -f '{"id": %.0f, "name": "another name"}' 10001 250000 >many.ndjson
is_unfinished() { doctor d | grep -q "^note  an import"; }
"$TENON" import --data d geo.places many.ndjson >/dev/null 2>&1 &
import=$!
ok "an import is seen while it goes on" until_true 20 is_unfinished
kill -9 "$import"
wait "$import" 2>/dev/null
says "after kill -9 of an import" 0 "note  an import is going on, or was cut off" doctor d
ok "the next writer takes it back" "$TENON" table create --data d --if-missing geo.places places.json
says "and all agrees" 0 "5000 rows" doctor d
is "$(doctor d | grep -c note)" 0 "without a note"

serve d --workers 2 || exit 1
kill -9 "$server"
wait "$server" 2>/dev/null
says "after kill -9 of a server" 0 "ok    d: 1 tables, 5000 rows" doctor d

# ---- not there, not ours, damaged
says "no directory" 1 "nowhere: No such file" doctor nowhere
mkdir empty
says "an empty directory" 1 "empty/data.mdb: there is no store yet" doctor empty
is "$(ls empty | grep -cv lock)" 0 "it gets no database"
says "a file" 1 "rows.ndjson: is not a directory" doctor rows.ndjson
mkdir foreign && cp rows.ndjson foreign/data.mdb
says "another program's file" 1 "foreign/data.mdb: damaged, or not a file of this program" doctor foreign
mkdir emptied && : >emptied/data.mdb
says "an emptied file" 1 "the file is empty" doctor emptied
mkdir cut && head -c 40000 d/data.mdb >cut/data.mdb
says "a file cut short" 1 "cut/data.mdb is damaged" doctor cut

# each page but the first two in turn: a finding, a clear end, or a page that is not used
pages=$(($(stat -c %s d/data.mdb) / 4096))
found=0 silent=0 bad=0
for ((page = 2; page < pages && page < 160; page += 7)); do
    rm -rf hurt
    mkdir hurt
    cp d/data.mdb hurt/
    head -c 4096 /dev/zero | tr '\0' '\245' | dd of=hurt/data.mdb bs=4096 seek="$page" conv=notrunc status=none
    out=$(doctor hurt 2>&1)
    case $? in
    0) silent=$((silent + 1)) ;;
    1) found=$((found + 1)); [[ "$out" == *damaged* || "$out" == *FAIL* || "$out" == *"cannot be read"* ]] || { bad=$((bad + 1)); echo "# page $page: $out"; } ;;
    *) bad=$((bad + 1)); echo "# page $page: $out" ;;
    esac
done
echo "# damaged pages: $found found, $silent not in use"
is "$bad" 0 "a page of garbage never ends the command without a word"
ok "and most are found" test "$found" -gt 5

says "neither URL nor --data" 2 "give either a URL or --data DIR" "$TENON" doctor
says "both" 2 "give either a URL or --data DIR" "$TENON" doctor http://127.0.0.1:1/mcp --data d
plan
