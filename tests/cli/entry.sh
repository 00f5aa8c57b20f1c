#!/bin/bash
# tests/cli/entry.sh - who may enter a server, seen from outside: with and without a token, on every
# worker, with the session of another, by a foreign name, from other machines.
. "$(dirname "$0")/../tap.bash"
. "$(dirname "$0")/says.bash"
cd "$tmp" || exit 1

# ask METHOD TOKEN HEADER...: sets $status; the answer's head is in $tmp/head, its body in $tmp/body
ask() {
    local method=$1 token=$2 header
    shift 2
    local args=(-H 'Content-Type: application/json' -H 'Accept: application/json, text/event-stream')
    [ -n "$token" ] && args+=(-H "Authorization: Bearer $token")
    [ "$method" = POST ] && args+=(-d "${body:-$ping}")
    for header in "$@"; do args+=(-H "$header"); done
    status=$(curl -sS -m 20 -X "$method" -D "$tmp/head" -o "$tmp/body" -w '%{http_code}' "${args[@]}" "$url")
}
ping='{"jsonrpc":"2.0","id":1,"method":"ping"}'
initialize='{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"test","version":"1"}}}'
head_of() { tr -d '\r' <"$tmp/head" | sed -n "s/^$1: *//Ip"; }
# open TOKEN: a session of this user; its header is $session
open() {
    body=$initialize ask POST "$1"
    session="Mcp-Session-Id: $(head_of mcp-session-id)"
    body='{"jsonrpc":"2.0","method":"notifications/initialized"}' ask POST "$1" "$session"
}
# everywhere STATUS TOKEN HEADER...: so on 12 connections, which meet both workers most likely
everywhere() {
    local wanted=$1
    shift
    for _ in 1 2 3 4 5 6 7 8 9 10 11 12; do
        ask POST "$@"
        [ "$status" = "$wanted" ] || { echo "got $status"; cat "$tmp/head" "$tmp/body"; return 1; }
    done
}
token() { "$TENON" token create "$1" --data d 2>/dev/null; }

# ---- while there are no users
ok "a server without users" serve d --workers 2 --allow-client-delete
open ""
is "$status" 202 "everybody on this machine may enter"
nobodys=$session
everywhere 200 "" "$session"
has "$(cat serve.log)" "there are no users: every client on this machine may do everything" "the start says so"

# ---- from the first user on
echo '{"super_user": true}' >boss.json
echo '{"databases": {"*": {"describe": true}}}' >guest.json
ok "roles" eval '"$TENON" role put boss boss.json --data d && "$TENON" role put guest guest.json --data d'
ok "users" eval '"$TENON" user create ada --role boss --data d && "$TENON" user create bob --role guest --data d'
ada=$(token ada) bob=$(token bob)
ok "without a token nobody enters any more, on any worker" everywhere 401 "" "$nobodys"
is "$(head_of www-authenticate)" "Bearer" "401 says how to show one"
is "$(cat body)" '{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"Unauthorized"}}' "and nothing else"
ok "A-08 nor with the session of before" everywhere 401 "" "$nobodys"
ok "S-13 nor has a user the session of nobody" everywhere 404 "$ada" "$nobodys"
for method in GET DELETE; do
    ask $method "" "$nobodys"
    is "$status" 401 "S-11 $method without a token"
done
open "$ada"
is "$status" 202 "A-04 a user enters"
adas=$session
ok "on every worker" everywhere 200 "$ada" "$adas"

# ---- the doctor
says "the doctor without a token" 1 "(--token-file shows a token)" "$TENON" doctor "$url"
(umask 077 && echo "$ada" >ada.token && echo "$ada $bob" >two.token && : >no.token && head -c 9000 /dev/zero | tr '\0' a >long.token)
says "the doctor with one" 0 "ok    tools/list" "$TENON" doctor --token-file ada.token "$url"
for file in two no long; do
    says "the doctor with a file of $file tokens" 1 "expected one line, a token" "$TENON" doctor --token-file $file.token "$url"
done
says "the doctor without the file" 1 "No such file or directory" "$TENON" doctor --token-file nowhere "$url"
rm -- *.token

# ---- the session of another
for method in POST GET DELETE; do
    ask $method "$bob" "$adas"
    is "$status" 404 "S-13 $method with another user's session"
    cp body theirs
    ask $method "$bob" "Mcp-Session-Id: 0123456789abcdef0123456789abcdef"
    is "$status" 404 "$method with a session that never was"
    ok "$method: one is answered as the other" cmp theirs body
done
ok "its own user still has it" everywhere 200 "$ada" "$adas"
open "$bob"
bobs=$session
body='{"jsonrpc":"2.0","id":1,"method":"notifications/initialized"}' ask POST "$ada" "$bobs"
is "$status" 404 "a super user has no other's session either"

# ---- bad tokens
bad() { # bad NAME STATUS PART TOKEN
    ask POST "$4" "$bobs"
    is "$status" "$2" "$1"
    has "$(head_of www-authenticate)" "$3" "$1: it is said"
}
bad "A-04 a tampered token" 401 'error="invalid_token"' "${bob%?}$([ "${bob: -1}" = A ] && echo B || echo A)"
bad "a token cut short" 401 'error="invalid_token"' "${bob%??}"
bad "a token and more" 401 'error="invalid_token"' "${bob}A"
bad "two tokens" 400 'error="invalid_request"' "$bob $ada"
bad "alg none" 401 'error="invalid_token"' "eyJhbGciOiJub25lIn0.eyJzdWIiOiJhZGEifQ."
url="$url?access_token=$ada" ask POST ""
is "$status" 401 "A-09 a token in the query"

# ---- names and pages
ask POST "$bob" "$bobs" "Host: evil.example"
is "$status" 403 "T-03 a foreign Host, with a good token"
ask POST "$bob" "$bobs" "Origin: https://evil.example"
is "$status" 403 "T-02 a foreign Origin, with a good token"
ask POST "" "Origin: https://evil.example"
is "$status" 403 "and without one"

# ---- a change holds for the next request, on every worker
ok "bob's token works" everywhere 200 "$bob" "$bobs"
ok "bob is switched off" "$TENON" user alter bob --disable --data d
ok "and is refused" everywhere 401 "$bob" "$bobs"
has "$(head_of www-authenticate)" 'error="invalid_token"' "by a challenge"
ok "bob is switched on" "$TENON" user alter bob --enable --data d
ok "and is there again" everywhere 200 "$bob" "$bobs"
ok "bob's token is revoked" "$TENON" token revoke "$("$TENON" token list bob --data d | cut -f1)" --data d
ok "and is refused for good" everywhere 401 "$bob" "$bobs"
ok "ada notices nothing" everywhere 200 "$ada" "$adas"
ok "it stops" stop

# ---- other machines
warns() { grep -c "$1" serve.log; }
says "an address that others reach, without users" 1 "needs users first" \
    timeout 20 "$TENON" serve --data e --listen 0.0.0.0:0 --metrics-listen off
says "an anonymous role is no user" 1 "needs users first" \
    timeout 20 "$TENON" serve --data e --listen 0.0.0.0:0 --metrics-listen off \
    --config <(echo '{"auth": {"anonymousRole": "guest"}}')
is "$(warns "without TLS")" 0 "a loopback address needs no TLS"
echo '{"allowedHosts": ["mcp.example"]}' >named.json
ok "a name of another machine" serve e --config named.json --workers 1
is "$(warns "allowedHosts has names of other machines, and there are no users")" 1 "without users: the start warns"
ask POST "" "Host: mcp.example"
is "$status" 400 "by that name it is reached"
ok "it stops too" stop
ok "a name of another machine, with users" serve d --config named.json --workers 1
is "$(warns "allowedHosts has names of other machines")" 1 "is as it should be"
ask POST "" "Host: mcp.example"
is "$status" 401 "by that name a token is needed too"
ok "it stops as well" stop

# ---- signed tokens: where clients get one
echo '{"keys":[]}' >keys.json
echo '{"auth": {"issuer": "https://issuer.example", "resource": "https://mcp.example/mcp", "jwks": "keys.json",
  "requiredScope": "use"}}' >oauth.json
ok "a server that takes signed tokens" serve d --config oauth.json --workers 1
known=https://mcp.example/.well-known/oauth-protected-resource/mcp
ask POST ""
is "$(head_of www-authenticate)" "Bearer resource_metadata=\"$known\"" "A-03 401 names the metadata"
url=${url%/mcp}/.well-known/oauth-protected-resource/mcp ask GET ""
is "$status $(jq -r .resource body)" "200 https://mcp.example/mcp" "A-02 which is there"
is "$(head_of access-control-allow-origin)" "*" "for pages too"
ask POST "" "Host: mcp.example"
is "$status" 401 "the host of auth.resource is one of this server's names"
ask POST "" "Host: other.example"
is "$status" 403 "others are not"
ok "it stops at last" stop

# ---- what is left of the tokens
for secret in "$ada" "$bob"; do
    ok "A-12 no token is logged or stored" eval '! grep -rqF "${secret#tenon_}" serve.log serve.out d'
done
plan
