#!/bin/bash
# tests/net/tls.sh - a whole server over TLS, seen by curl and openssl; then the HTTP tests, trap by
# trap, through TLS. Files and handshakes by themselves: tests/unit/test_tls.c, test_tls_listener.c.
. "$(dirname "$0")/../tap.bash"
cd "$tmp" || exit 1

if ! command -v openssl >/dev/null; then
    skip "a server over TLS" "needs openssl"
    plan
    exit
fi

ec=(-newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes)
# own NAME SUBJECT DAYS: a certificate that signs itself; leaf NAME SUBJECT DAYS: signed by ca
own() { openssl req -x509 "${ec[@]}" -keyout "$1.key" -out "$1.pem" -subj "$2" -days "$3" -addext subjectAltName=DNS:localhost,IP:127.0.0.1 2>/dev/null; }
leaf() {
    openssl req "${ec[@]}" -keyout "$1.key" -out "$1.csr" -subj "$2" 2>/dev/null
    openssl x509 -req -in "$1.csr" -CA ca.pem -CAkey ca.key -CAcreateserial -out "$1.pem" -days "$3" 2>/dev/null
}
own cert /CN=localhost 10
own next /CN=localhost 10
own ca /CN=authority 10
own stranger /CN=alice 10
leaf alice /CN=alice 10
leaf bob /CN=bob 10
leaf nobody /CN=nobody 10
leaf expired /CN=alice -1
leaf two /CN=alice/CN=bob 10
cp cert.pem now.pem
cp cert.key now.key

# serve_tls OPTION...: as serve; also sets $url
serve_tls() {
    serve d --workers 2 --tls-certificate now.pem --tls-key now.key "$@" && url=https://127.0.0.1:$port/mcp
}
initialize='{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"test","version":"1"}}}'
# ask OPTION...: the status of an initialize; 000: none came
ask() {
    curl -sS -m 20 -o answer -w '%{http_code}' --cacert cert.pem -H 'Content-Type: application/json' \
        -H 'Accept: application/json, text/event-stream' -d "$initialize" "$@" "$url" 2>curl.log
}
says_log() { grep -qF "$1" serve.log; }

# ---- good
serve_tls || exit 1
has "$(cat serve.log)" "listening on https://127.0.0.1:$port/mcp" "the start says https"
is "$(ask)" 200 "TLS 1.3"
is "$(ask --tlsv1.3 --http2)" 200 "a client that offers h2 gets HTTP/1.1"
is "$(ask --tls-max 1.2)" 200 "TLS 1.2"
is "$(ask -k --tls-max 1.1 --ciphers DEFAULT@SECLEVEL=0)" 000 "not TLS 1.1"
is "$(ask -k --tls-max 1.0 --ciphers DEFAULT@SECLEVEL=0)" 000 "not TLS 1.0"
is "$(url=http://127.0.0.1:$port/mcp ask)" 000 "plain HTTP gets no answer"
is "$(ask -H "Mcp-Session-Id: a" -H "Mcp-Session-Id: b")" 400 "a header that stands twice"
is "$(ask -H "Transfer-Encoding: chunked" -H "Content-Length: 5")" 400 "both framings"
is "$(ask -H "Origin: https://evil.example")" 403 "a foreign origin"
ok "doctor" "$TENON" doctor --ca cert.pem "https://127.0.0.1:$port/mcp"
has "$("$TENON" doctor "https://127.0.0.1:$port/mcp" 2>&1)" "self-signed certificate" "doctor trusts nobody unasked"
has "$("$TENON" doctor --ca next.pem "https://127.0.0.1:$port/mcp" 2>&1)" "FAIL" "nor another"
resumed() { openssl s_client -connect "127.0.0.1:$port" "$1" -reconnect </dev/null 2>/dev/null | grep -c "^Reused"; }
is "$(resumed -tls1_2)" 0 "nothing is resumed"

# ---- reload under load, beside a stream
load() { while [ -e load ]; do [ "$(ask -k)" = 200 ] || echo bad >>load.bad; done; }
ask -D head >/dev/null
stream=$(tr -d '\r' <head | sed -n 's/^[Mm]cp-[Ss]ession-[Ii]d: *//p')
curl -sSN -m 300 --cacert cert.pem -H "Mcp-Session-Id: $stream" -H 'Accept: text/event-stream' "$url" >stream 2>stream.log &
listener=$!
reap "$listener"
ok "a stream opens" until_true 20 test -s stream
touch load
load &
loader=$!
shown() { openssl s_client -connect "127.0.0.1:$port" </dev/null 2>/dev/null | openssl x509 -noout -fingerprint; }
becomes() { # becomes NAME: both workers show it, most likely
    local wanted i
    wanted=$(openssl x509 -in "$1.pem" -noout -fingerprint)
    for i in 1 2 3 4; do until_true 10 eval '[ "$(shown)" = "$wanted" ]' || return 1; done
}
for name in next cert next cert; do
    cat $name.key >now.key
    cat $name.pem >now.pem
    kill -HUP "$server"
    ok "SIGHUP: new connections get $name.pem" becomes $name
done
cat next.key >now.key
kill -HUP "$server"
ok "a key that does not fit: the log says so" until_true 10 says_log "tls.key: now.key: is not the key of the certificate"
ok "and that the old one stays" until_true 10 says_log "SIGHUP: the certificate that holds stays"
ok "it does" becomes cert
cat cert.key >now.key
rm load
wait "$loader"
ok "no request failed meanwhile" test ! -e load.bad
ok "the stream is still open" kill -0 "$listener"
kill "$listener"
ok "an orderly stop" stop

# ---- starts that fail, and one that warns
start_fails() { # start_fails PART OPTION...
    local part=$1
    shift
    "$TENON" serve --data d --listen 127.0.0.1:0 --metrics-listen off "$@" >out 2>&1 && { echo "it started"; return 1; }
    grep -F "error:" out | grep -qF "$part" && [ "$(grep -c error: out)" = 1 ] || { cat out; return 1; }
}
chmod 644 next.key
ok "a key that others may read" start_fails "tls.key: next.key: is open to others" --tls-certificate next.pem --tls-key next.key
chmod 600 next.key
ok "a pair that does not fit" start_fails "is not the key of the certificate" --tls-certificate cert.pem --tls-key next.key
ok "a certificate that is none" start_fails "tls.certificate: cert.key: holds no certificate" --tls-certificate cert.key --tls-key cert.key
ok "no file" start_fails "tls.certificate: none.pem: No such file" --tls-certificate none.pem --tls-key cert.key
ok "half a pair" start_fails "tls.key: expected" --tls-certificate cert.pem
cat expired.pem >now.pem
cat expired.key >now.key
serve_tls || exit 1
ok "an expired certificate is told" says_log "tls.certificate: now.pem: the certificate of /CN=alice has expired"
ok "and served" test "$(ask -k)" = 200
stop
cat cert.pem >now.pem
cat cert.key >now.key

# ---- certificates of clients
with() { ask --cert "$1.pem" --key "$1.key" "${@:2}"; }
"$TENON" user create --data d alice 2>/dev/null >&2
"$TENON" user create --data d bob 2>/dev/null >&2
token=$("$TENON" token create --data d alice 2>/dev/null)
for must in false true; do
    echo "{\"tls\": {\"clientCa\": \"ca.pem\", \"requireClientCertificate\": $must}}" >config.json
    serve_tls --config config.json || exit 1
    is "$(with alice)" 200 "required $must: a user by certificate"
    is "$(with nobody)" 401 "required $must: a name that is no user"
    is "$(with two)" 401 "required $must: two names"
    is "$(with expired)" 000 "required $must: an expired certificate"
    is "$(with stranger)" 000 "required $must: one of an unknown authority"
    is "$(with alice -H "Authorization: Bearer $token")" 200 "required $must: certificate and token of one user"
    is "$(with bob -H "Authorization: Bearer $token")" 401 "required $must: of two"
    has "$(cat answer)" '"error"' "required $must: which is told"
    is "$(with alice -H "Authorization: Bearer wrong")" 401 "required $must: a bad token beside a certificate"
    [ $must = true ] && alone=000 || alone=200
    is "$(ask -H "Authorization: Bearer $token")" $alone "required $must: a token alone"
    [ $must = true ] && none=000 || none=401
    is "$(ask)" $none "required $must: neither"
    stop
done
ok "no key and no token in the log" eval '! grep -qE "PRIVATE|tenon_" serve.log'

# ---- the HTTP tests through TLS
tests=$top/build/release/tests/unit
through() { TENON_FUZZ_ROUNDS=20 TENON_RIG_TLS=$tmp CMOCKA_MESSAGE_OUTPUT=TAP "$tests/test_$1" >out 2>&1 || { grep -A3 "^not ok" out; return 1; }; }
cp cert.key key.pem
for name in http http_auth http_body http_traps http_limits http_streams http_stream_ends; do
    if [ -x "$tests/test_$name" ]; then
        ok "test_$name through TLS" through $name
    else
        skip "test_$name through TLS" "needs $tests/test_$name"
    fi
done
plan
