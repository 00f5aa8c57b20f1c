#!/bin/bash
# tests/cli/access.sh - tenon user, role and token: beside a server with two workers, which knows
# what changed with the next request, and every word of what is refused.
. "$(dirname "$0")/../tap.bash"
. "$(dirname "$0")/says.bash"
cd "$tmp" || exit 1
user() { "$TENON" user "$1" "${@:2}" --data d; }
role() { "$TENON" role "$1" "${@:2}" --data d; }
token() { "$TENON" token "$1" "${@:2}" --data d; }
echo '{"super_user": true}' >super.json
echo '{"databases": {"*": {"tables": {"*": {"read": true}}}},
  "operations": ["list_*"]}' >reader.json

# status HEADER...: of ten pings, which come to both workers; one number if all agree
status() {
    local i
    for i in {1..10}; do
        mcp '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}' "$@" >/dev/null
        sed -n '1s/.* \([0-9]*\) .*/\1/p' head
    done | sort -u | tr '\n' ' '
}
bearer() { echo "Authorization: Bearer $1"; }

# ---- without anything
for what in user role token; do
    says "$what list without a database" 1 "nowhere: No such file" "$TENON" $what list --data nowhere
done
ok "which makes none" test ! -e nowhere
serve d --workers 2 || exit 1
has "$(cat serve.log)" "there are no users: every client on this machine may do everything" "start: says who may do what"
is "$(status)" "200 " "no users: no token is needed on this machine"
is "$(status "$(bearer tenon_nonsense)")" "401 " "no users: a token that is none is not nobody"
says "user list of none" 0 "no users in d (tenon user create makes one)" user list
says "role list of none" 0 "no roles in d (tenon role put makes one)" role list
says "token list of none" 0 "no tokens in d (tenon token create makes one)" token list
says "token list of none of one" 0 "no tokens of ann in d" token list ann

# ---- roles
says "role put" 0 "put role admin" role put admin super.json
says "role put from standard input" 0 "put role reader" role put reader - <reader.json
is "$(role list)" $'admin\tsuper user\nreader\tlimited' "role list"
is "$(role show reader | jq -c .)" "$(jq -c . reader.json)" "role show: as it was put"
says "role put of nothing" 2 "missing arguments: NAME FILE" role put admin
says "role put without the file" 1 "nothing.json: No such file" role put admin nothing.json
says "role put of no name" 1 "the name of a role has to be a letter" role put 'a b' super.json
printf '{\n "super_user": 1}\n' >bad.json
says "role put of no role: file and line" 1 "bad.json:2: /super_user: " role put admin bad.json
printf '{\n "databases": {"geo": {\n"tables": {"x": {"reed": true}}}}}\n' >bad.json
says "role put of an unknown member" 1 "bad.json:3: /databases/geo/tables/x" role put admin bad.json
printf '{"super_user": true\n' >bad.json
says "role put of no JSON" 1 "bad.json:2: " role put admin bad.json
head -c 262145 /dev/zero | tr '\0' ' ' >bad.json
says "role put of too much" 1 "bad.json: " role put admin bad.json
says "role show of none" 1 "there is no role writer" role show writer
says "role drop of none" 1 "there is no role writer" role drop writer

# ---- users
says "user create with a role that is not there" 1 "there is no role writer" user create ann --role writer
says "user create of no name" 1 "the name of a user has to be 1 to 256 bytes of text" user create ' ann'
is "$(status)" "200 " "and there still are none"
says "user create" 0 "created user root" user create root --role admin
is "$(status)" "401 " "the first user: who has no token is refused, by both workers"
is "$(user create ann --role reader 2>&1 >/dev/null)" "next: tenon token create ann" "user create: what comes next"
says "user create once more" 1 "there is a user ann already (tenon user alter changes him)" user create ann
says "user create --if-missing" 0 "" user create ann --if-missing
user create 'Bö Li' --role reader,admin --role reader 2>/dev/null >&2
is "$(user list | cut -f1-3)" $'Bö Li\tadmin,reader\tenabled\nann\treader\tenabled\nroot\tadmin\tenabled' "user list"
says "user alter of nothing" 2 "nothing to change" user alter ann
says "user alter of both" 2 "--enable and --disable exclude each other" user alter ann --enable --disable
says "user alter of both roles" 2 "--role and --no-roles exclude each other" user alter ann --role x --no-roles
says "user alter of none" 1 "there is no user bob" user alter bob --disable
says "user alter with a role that is not there" 1 "there is no role writer" user alter ann --role writer
says "user drop of none" 1 "there is no user bob" user drop bob
says "role drop in use" 1 "has the role reader (tenon user alter gives another one)" role drop reader

# ---- tokens
says "token create of none" 1 "there is no user bob" token create bob
for bad in 0d 1 d -1d 1y 1.5d 99999999999999999999d 36501d ''; do
    says "token create --expires '$bad'" 2 "--expires: expected never, or a number and one of s m h d w" token create ann --expires "$bad"
done
ann=$(token create ann --expires 30d --label "for ci" 2>said)
ok "token create: the token alone on stdout" grep -qxE 'tenon_[A-Za-z0-9_-]{43}' <<<"$ann"
ok "token create: the rest on stderr" grep -qxE "token [0-9a-f]{16} of ann, expires $(date -u -d '30 days' +%F); it is not shown again" said
root=$(token create root --expires never 2>said)
has "$(cat said)" "expires never" "token create: never"
second=$(token create ann 2>said)
has "$(cat said)" "expires $(date -u -d '90 days' +%F)" "token create: 90 days if nothing is said"
ok "token create to nowhere" eval '! token create ann >/dev/full 2>said'
has "$(cat said)" "No space left on device; no token was made" "token create to nowhere: says so"
is "$(token list | wc -l)" 3 "token list: and there is none"
has "$(token list ann)" $'\tann\tfor ci\tcreated ' "token list: user and label"
is "$(token list ann | wc -l)" 2 "token list of one"
id=$(token list ann | grep 'for ci' | cut -f1)
is "$(token list | grep -c "${ann#tenon_}")" 0 "token list: no token is in it"
says "token create with a bad label" 1 "a label has to be at most 128 bytes" token create ann --label $'a\tb'
says "token revoke of none" 1 "there is no token 0123 (tenon token list shows all)" token revoke 0123
says "token revoke of a token" 2 "that is a token; its id is asked for" token revoke "$ann"
is "$(token revoke "$ann" 2>&1 | grep -c "$ann")" 0 "which is not said again"

# ---- what the server makes of it
is "$(status "$(bearer "$ann")")" "200 " "a token is let in"
is "$(status "$(bearer "$root")")" "200 " "another too"
is "$(status "$(bearer "${ann%?}")")" "401 " "less than a token is not"
is "$(status "$(bearer "${ann}A")")" "401 " "more is not"
says "user alter --disable" 0 "altered user ann" user alter ann --disable
is "$(status "$(bearer "$ann")")" "401 " "who is disabled is refused at once"
has "$(user list)" $'ann\treader\tdisabled' "user list: disabled"
user alter ann --enable >/dev/null
is "$(status "$(bearer "$ann")")" "200 " "and let in again"
says "token revoke" 0 "revoked token $id of ann" token revoke "$id"
is "$(status "$(bearer "$ann")")" "401 " "a revoked token is refused at once, by both workers"
is "$(status "$(bearer "$second")")" "200 " "the other one of the user is not"
says "user drop" 0 "dropped user ann, and all tokens" user drop ann
is "$(status "$(bearer "$second")")" "401 " "who was dropped is refused"
user create ann --role reader 2>/dev/null >&2
is "$(status "$(bearer "$second")")" "401 " "and is somebody else when made again"

# ---- the last super user
user alter 'Bö Li' --role reader >/dev/null
last="no super user would be left who is not switched off; nobody could manage the server but from this machine (--yes does it all the same)"
says "user drop of the last super user" 1 "$last" user drop root
says "user alter of the last super user" 1 "$last" user alter root --no-roles
says "user alter --disable of the last super user" 1 "$last" user alter root --disable
says "role put of the last super users" 1 "$last" role put admin reader.json
says "role put --yes" 0 "put role admin" role put admin reader.json --yes
says "role put back" 0 "put role admin" role put admin super.json
says "user alter --yes" 0 "altered user root" user alter root --no-roles --yes
says "user drop" 0 "dropped user root" user drop root
says "role drop" 0 "dropped role admin" role drop admin
stop

# ---- by operations
role put admin super.json >/dev/null
user create boss --role admin 2>/dev/null >&2
boss=$(token create boss 2>/dev/null)
serve d --workers 2 --config <(echo '{"mcp": {"operations": {"allow": ["*"]}}}') || exit 1
as() { mcp "$2" "$session" "$(bearer "$1")"; }
operation() { # operation TOKEN NAME ARGUMENTS
    as "$1" "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"$2\",\"arguments\":$3}}"
}
url=$url/operations
start='{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}'
session= && as "$boss" "$start" >/dev/null
session="Mcp-Session-Id: $(tr -d '\r' <head | sed -n 's/^[Mm]cp-[Ss]ession-[Ii]d: *//p')"
is "$(operation "$boss" whoami '{}' | jq -c .result.structuredContent.user)" '"boss"' "operations: whoami"
made=$(operation "$boss" create_token '{"user":"Bö Li"}' | jq -r .result.structuredContent.token)
is "$(status "$(bearer "$made")")" "200 " "operations: a token that create_token made is let in"
is "$(operation "$made" whoami '{}' | jq -r .error.message)" "Session not found" "operations: but not to a session of somebody else"
operation "$boss" alter_user '{"name":"Bö Li","disabled":true}' >/dev/null
is "$(status "$(bearer "$made")")" "401 " "operations: alter_user holds on both workers"
operation "$boss" alter_user '{"name":"Bö Li","disabled":false}' >/dev/null
stop
ok "no token is in the data directory" eval '! grep -rqF -e "${boss#tenon_}" -e "${made#tenon_}" d'
user drop boss --yes >/dev/null && role drop admin >/dev/null

# ---- clients without a token
serve d --config <(echo '{"auth": {"anonymousRole": "reader"}}') || exit 1
has "$(cat serve.log)" "clients without a token may do what the role reader may" "anonymousRole: said at the start"
is "$(status)" "200 " "anonymousRole: they are let in"
is "$(status "$(bearer "$second")")" "401 " "anonymousRole: a refused token never becomes anonymous"
user alter ann --no-roles >/dev/null
user alter 'Bö Li' --no-roles >/dev/null
role drop reader >/dev/null
is "$(status)" "401 " "anonymousRole: without the role they are refused"
stop
serve d --config <(echo '{"auth": {"anonymousRole": "reader"}}') || exit 1
has "$(cat serve.log)" "there is no role reader, so clients without a token are refused" "anonymousRole: a missing one is said"
stop
echo '{"super_user": true}' >all.json
role put reader all.json >/dev/null
serve d --config <(echo '{"auth": {"anonymousRole": "reader"}}') || exit 1
has "$(tail -3 serve.log)" "the role reader is of super users, so clients without a token are refused" "anonymousRole of super users: said at the start"
is "$(status)" "401 " "anonymousRole of super users: they are refused"
stop
user drop ann >/dev/null && user drop 'Bö Li' >/dev/null
serve d --config <(echo '{"auth": {"anonymousRole": "none"}}') || exit 1
has "$(tail -3 serve.log)" "clients without a token are refused" "anonymousRole none: said at the start"
is "$(status)" "401 " "anonymousRole none: also without users"
stop
echo '{"auth": {"anonymousRole": "a b"}}' >bad.json
says "anonymousRole of no name" 1 "auth.anonymousRole: expected none, or the name of a role" "$TENON" serve --data d --listen 127.0.0.1:0 --config bad.json

ok "nor any of those before" eval '! grep -rqF -e "${ann#tenon_}" -e "${root#tenon_}" -e "${second#tenon_}" d'
ok "nor in the log" eval '! grep -qF -e "${ann#tenon_}" -e "${root#tenon_}" -e "${second#tenon_}" serve.log'
plan
