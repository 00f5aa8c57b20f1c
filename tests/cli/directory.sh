#!/bin/bash
# tests/cli/directory.sh - a data directory that is a link, and one in which somebody else has put
# links: the first is followed, the others are not, and what they lead to stays as it was.
. "$(dirname "$0")/../tap.bash"
. "$(dirname "$0")/says.bash"
cd "$tmp" || exit 1

cat >places.json <<'END'
{"primaryKey": "id", "schema": {"type": "object", "properties": {"id": {"type": "string"}}}}
END
list() { "$TENON" table list --data "$1"; }
refused() { says "$1" 1 "$2" timeout 20 "$TENON" serve --listen 127.0.0.1:0 --data "$3"; }

# ---- the directory itself
mkdir -m 700 disk
ln -s disk linked
ok "a table in a directory that is a link" "$TENON" table create geo.places places.json --data linked
ok "its files are where the link leads" test -f disk/data.mdb -a -f disk/open.lock -a -L linked
ok "a server on it" serve linked --workers 1
has "$(list disk)" "geo.places" "and by the way that leads there it is the same"
says "a second server by that way" 1 "in use by another server" \
    timeout 20 "$TENON" serve --listen 127.0.0.1:0 --data disk
ok "it stops" stop
ln -s nowhere dangling
refused "a link that leads nowhere" "dangling" dangling
ok "nothing was made there" test ! -e nowhere
ln -s round round
refused "a link to itself" "round" round

# ---- files in it
echo precious >target
# a server that stops in good order replaces sys.state by the draft, hence both
for file in data.mdb data.mdb-lock sys.mdb sys.mdb-lock open.lock sys.users sys.state \
    sys.state.new load.lock build.lock secret serve.lock wake components.seen; do
    rm -rf trap && cp -r disk trap
    ln -sf ../target trap/$file
    refused "$file is a link" "$file" trap
    is "$(cat target)" precious "$file is a link: what it leads to is as it was"
    rm trap/$file && ln -s ../made trap/$file
    refused "$file is a link to what is not there" "$file" trap
    ok "$file is a link to what is not there: it is not made" test ! -e made
done
for file in data.mdb sys.mdb sys.state; do
    rm -rf trap && cp -r disk trap && rm trap/$file
    mkfifo trap/$file
    says "$file is a pipe" 1 "$file: is not a file" timeout 20 "$TENON" serve --listen 127.0.0.1:0 --data trap
done
rm -rf trap && cp -r disk trap && ln -sf ../target trap/sys.state.new
says "a command beside it refuses too" 1 "sys.state.new: is a symbolic link" list trap

# ---- who may write to it
chmod 777 disk
ok "a server where everybody may write" serve disk --workers 1
has "$(cat "$tmp/serve.log")" "everybody on this machine may write to it" "it warns"
ok "it stops too" stop
plan
