#!/bin/bash
# tests/cli/auth.sh - the settings of signed tokens: what must stand together, and each message.
. "$(dirname "$0")/../tap.bash"
. "$(dirname "$0")/says.bash"
cd "$tmp" || exit 1

# refused NAME PART AUTH: a server with these auth settings does not start and says why
refused() {
    echo "{\"auth\": $3}" >settings.json
    says "auth: $1" 1 "$2" "$TENON" serve --data d --listen 127.0.0.1:0 --config settings.json
}
echo '{"keys":[]}' >keys.json
echo '{}' >no_keys.json
cp keys.json open.json && chmod 666 open.json
issuer='"issuer": "https://issuer.example"'
resource='"resource": "https://mcp.example/mcp"'
jwks='"jwks": "keys.json"'

for key in jwks resource audience requiredScope; do
    refused "$key alone" "auth.$key: expected auth.issuer beside it" "{\"$key\": \"x\"}"
done
for key in authorizationServers scopes; do
    refused "$key alone" "auth.$key: expected auth.issuer beside it" "{\"$key\": [\"x\"]}"
done
refused "an issuer alone" "auth.resource: expected the URL that clients reach this server by" "{$issuer}"
refused "no keys" "auth.jwks: expected a file or URL with the keys of auth.issuer" "{$issuer, $resource}"
refused "a resource without TLS" "auth.resource: expected an https URL, or an http one of this machine, found http://mcp.example/" \
    "{$issuer, $jwks, \"resource\": \"http://mcp.example/\"}"
refused "a resource with a fragment" "auth.resource: expected an https URL" "{$issuer, $jwks, \"resource\": \"https://mcp.example/#a\"}"
refused "an issuer that is no URL" "auth.issuer: expected an https URL" "{\"issuer\": \"issuer\", $jwks, $resource}"
refused "an issuer without TLS" "auth.issuer: expected an https URL" "{\"issuer\": \"http://issuer.example\", $jwks, $resource}"
refused "no authorization server" "auth.authorizationServers: expected one at least" "{$issuer, $jwks, $resource, \"authorizationServers\": []}"
refused "an authorization server without TLS" "auth.authorizationServers: expected an https URL" \
    "{$issuer, $jwks, $resource, \"authorizationServers\": [\"https://a.example\", \"http://b.example\"]}"
refused "keys by http from elsewhere" "auth.jwks: expected an https URL, or an http one of this machine, found http://a.example/j" \
    "{$issuer, $resource, \"jwks\": \"http://a.example/j\"}"
refused "keys by another protocol" "auth.jwks: expected an https URL" "{$issuer, $resource, \"jwks\": \"file:///etc/passwd\"}"
refused "keys by a URL with a password" "auth.jwks: expected an https URL" "{$issuer, $resource, \"jwks\": \"https://u:p@a.example/\"}"
refused "a file of keys that is not there" "auth.jwks: none.json: No such file or directory" "{$issuer, $resource, \"jwks\": \"none.json\"}"
refused "a file without keys" "auth.jwks: no_keys.json: no JSON Web Key Set" "{$issuer, $resource, \"jwks\": \"no_keys.json\"}"
refused "a file that everybody may write" "auth.jwks: open.json: everybody may write it" "{$issuer, $resource, \"jwks\": \"open.json\"}"
for scope in a =a a= "a b=c" 'a=b c' '\"=a'; do
    refused "the scope $scope" "auth.scopes: expected SCOPE=ROLE, found" "{$issuer, $resource, $jwks, \"scopes\": [\"ok=ok\", \"$scope\"]}"
done
refused "two required scopes" "auth.requiredScope: expected one scope, without blanks" "{$issuer, $resource, $jwks, \"requiredScope\": \"a b\"}"
refused "keys that never age" "auth.jwksMaxAgeSeconds: expected a whole number from 1 to 86400" '{"jwksMaxAgeSeconds": 0}'
refused "an hour of skew" "auth.clockSkewSeconds: expected a whole number from 0 to 600" '{"clockSkewSeconds": 3600}'

# good ones
echo "{\"auth\": {$issuer, $resource, $jwks, \"scopes\": [\"a=b\", \"x=y=z\"], \"requiredScope\": \"a\"}}" >settings.json
ok "auth: a server with a file of keys starts" serve d --config settings.json
has "$(cat serve.log)" "auth.jwks: keys.json: no key of it can be used" "auth: a set without a key of use is told"
has "$(cat serve.log)" "clients without a token are refused" "auth: nobody is let in unasked"
ok "auth: and stops" stop
echo "{\"auth\": {\"issuer\": \"issuer\", $resource, \"jwks\": \"http://127.0.0.1:1/\", \"authorizationServers\": [\"http://localhost:1/as\"]}}" >settings.json
ok "auth: a server starts while its keys cannot be had" serve d --config settings.json
ok "auth: and stops too" stop
plan
