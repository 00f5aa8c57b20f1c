#!/bin/bash
# tests/tokens.sh - a token that anybody used, well or badly, is nowhere afterwards: not in what the
# server logged, audited, counted, stored or answered, and not in a core file.
. "$(dirname "$0")/tap.bash"
cd "$tmp" || exit 1
ulimit -c unlimited 2>/dev/null
export TENON_CLOCK_FILE=$tmp/clock
echo 0 >clock

echo '{"databases": {"*": {"tables": {"*": {"read": true, "insert": true}}}}, "operations": ["*"], "tools": ["*"]}' >role.json
cat >places.json <<'END'
{"primaryKey": "id", "schema": {"type": "object",
 "properties": {"id": {"type": "string"}, "note": {"type": "string"}, "token": {"type": "string"}}}}
END
"$TENON" table create --data d geo.places places.json >cli.out 2>&1
"$TENON" role put --data d all role.json >>cli.out 2>&1
"$TENON" user create --data d ann --role all >>cli.out 2>&1
new_token() { "$TENON" token create --data d ann "$@" 2>>cli.out; }
random() { head -c 32 /dev/urandom | base64 -w0 | tr '+/' '-_' | tr -d '='; }
good=$(new_token) other=$(new_token) revoked=$(new_token --label old) old=$(new_token --expires 1h) row=$(new_token)
made_up=tenon_$(random)
jwt=$(printf '{"alg":"ES256","kid":"k"}' | base64 -w0 | tr -d =).$(printf '{"sub":"ann","aud":"x"}' | base64 -w0 | tr -d =).$(random)
is "${#good}" 49 "a token has 256 bits"
"$TENON" token list --data d >list.out 2>&1
"$TENON" token revoke --data d "$(awk '/old/ {print $1; exit}' list.out)" >>cli.out 2>&1

serve d --workers 2 --audit-file audit --metrics-listen 127.0.0.1:0 || exit 1
watch=$(grep -oE 'metrics on http://[^/]*' serve.log | sed 's/metrics on //')
bearer() { echo "Authorization: Bearer $1"; }
# tell FILE BODY HEADER...: a request; head and body of the answer go behind FILE
tell() {
    local file=$1
    shift
    mcp "$@" >>"$file" 2>&1
    cat head >>"$file" 2>/dev/null
}
call() { echo "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"$1\",\"arguments\":$2}}"; }
hello='{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"test","version":"1"}}}'

# ---- as it should be
me=$(bearer "$good")
connect() {
    tell sent "$hello" "$me"
    session="Mcp-Session-Id: $(tr -d '\r' <head | sed -n 's/^[Mm]cp-[Ss]ession-[Ii]d: *//p')"
}
connect
tell sent "$(call get_places '{"id":"a"}')" "$session" "$me"
has "$(tail -c 1000 sent)" '"jsonrpc":"2.0"' "a good token is taken"
tell sent "$(call search_places '{}')" "$session" "$(bearer "$other")"

# ---- and as it should not
for token in "$made_up" "$revoked" "$jwt" "${good}x" "${good%?}"; do
    tell sent "$hello" "$(bearer "$token")"
    has "$(cat head)" " 401 " "a bad token is refused"
done
echo 7200000 >clock
tell sent "$hello" "$(bearer "$old")"
has "$(cat head)" " 401 " "one that has expired is, too"
connect
for header in "Authorization: Basic $good" "Authorization: $good" "Authorization: Bearer $good $other" \
    "Authorization: Bearer  $good, Bearer $other" "Cookie: token=$good" "X-Api-Key: $good" "Origin: http://$good.example" \
    "Host: $good"; do
    tell sent "$hello" "$header"
done
tell sent "$hello" "$me" "Authorization: Bearer $other"
tell sent "$hello" "$me" "Mcp-Session-Id: $other"
tell sent "$hello" "$me" "MCP-Protocol-Version: $other"
curl -sS -m 20 -D - "$url?access_token=$good" -H 'Content-Type: application/json' -H 'Accept: application/json' -d "$hello" >>sent 2>&1
curl -sS -m 20 -D - "${url%/mcp}/$good" -H "$me" >>sent 2>&1
curl -sS -m 20 -D - -N -H 'Accept: text/event-stream' -H "$me" -H "$session" -H "Last-Event-ID: $other" "$url" >>sent 2>&1
curl -sS -m 20 -D - "$watch/metrics?token=$good" >>sent 2>&1
curl -sS -m 20 -D - -X DELETE -H "Mcp-Session-Id: $good" -H "$me" "$url" >>sent 2>&1
tell sent "token=$good" "$me"
tell sent "{\"token\":\"$good\"}" "$me" "$session"

# ---- what the client itself says is answered to it, but not kept (a row of its own is)
for name in token Authorization note; do
    tell echoed "$(call get_places "{\"id\":\"$good\",\"$name\":\"$good\"}")" "$session" "$me"
done
tell echoed "$(call get_places "{\"id\":\"$jwt\"}")" "$session" "$me"
tell echoed "$(call "$good" "{\"$other\":1}")" "$session" "$me"
tell echoed "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"$good\"}" "$session" "$me"
tell echoed "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"resources/read\",\"params\":{\"uri\":\"db://geo/places/$good\"}}" "$session" "$me"
tell echoed "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{\"requestId\":9,\"reason\":\"$good\"}}" "$session" "$me"
tell echoed "$(call create_places "{\"id\":\"b\",\"note\":\"$row\",\"token\":\"x\"}")" "$session" "$me"
has "$(tail -c 2000 echoed)" "$row" "a row holds what its client put into it"
tell sent "$(call get_places '{"id":"c"}')" "$session" "$(bearer "$row")"

# ---- a worker dies of an abort: it leaves no core file
worker() { ps -o pid,comm --ppid "$server" | awk '/worker/ {print $1; exit}'; }
victim=$(worker)
is "$(awk '/core file size/ {print $5}' "/proc/$victim/limits" 2>/dev/null)" 1 "core files of a worker are forbidden"
kill -ABRT "$victim"
died() { grep -q "was killed by signal 6" serve.log; }
ok "a worker is aborted" until_true 20 died
curl -sS -m 20 "$watch/metrics" >>sent 2>&1
"$TENON" token list --data d >>list.out 2>&1
ok "the server ends in good order" stop
ok "there is no core file" eval '! ls core* d/core* 2>/dev/null | grep .'

# ---- nothing of it is anywhere
# nowhere FILE...: of what follows "tenon_" or stands between the points of a JWT, half is enough
nowhere() {
    local token rest bad=0
    for token in "$good" "$other" "$revoked" "$old" "$made_up" "${jwt##*.}" $also; do
        rest=${token#tenon_}
        grep -rlaF -e "${rest:0:20}" -e "${rest: -20}" "$@" && { echo "holds $token"; bad=1; }
    done
    return $bad
}
also=$row
ok "no token in the log" nowhere serve.log serve.out
ok "no token in the audit" nowhere audit
ok "no token in what commands said" nowhere cli.out list.out
also=
ok "no token in answers, heads and metrics" nowhere sent
ok "no token in the data directory" nowhere d
is "$(jq -rn 'try (reduce inputs as $x (0; . + 1)) catch "broken"' audit)" "$(wc -l <audit)" "each line of the audit is JSON"
ok "the audit holds refusals" grep -q '"status":"unauthorized"' audit
ok "the audit holds calls" grep -q '"user":"ann","tool":"get_places"' audit
ok "this test would see a token" eval '! nowhere echoed >/dev/null'
plan
