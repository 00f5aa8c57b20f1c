#!/bin/bash
# tests/cli/monitor.sh - /metrics, /healthz and /readyz as an operator and his programs see them.
. "$(dirname "$0")/../tap.bash"
cd "$tmp" || exit 1

code() { curl -sS -m 20 -o /dev/null -w '%{http_code}' "$@"; }
metric() { curl -sS -m 20 "$watch/metrics" | awk -v name="$1" '$1 == name {print $2}'; }
is_metric() { [ "$(metric "$1")" = "$2" ]; }

# The text format, strictly: each sample behind the HELP and TYPE of its family, each once, numbers
# that are numbers, histogram buckets that rise to the count.
strict() {
    awk '
    function fail(why) { print NR ": " why ": " $0; bad = 1 }
    /^# HELP / { if (helped[$3]++) fail("two HELP"); next }
    /^# TYPE / { if (!helped[$3] || type[$3]) fail("TYPE without HELP, or two")
                 if ($4 !~ /^(counter|gauge|histogram)$/) fail("type"); type[$3] = $4; next }
    /^#/ { fail("comment"); next }
    { if (!match($0, /^[a-z_][a-z0-9_]*({([a-z_]+="[^"\\\n]*",?)+})? [0-9.e+-]+$/)) fail("sample")
      name = $1; sub(/{.*/, "", name); family = name
      if (type[family] == "") sub(/_(bucket|sum|count)$/, "", family)
      if (type[family] == "") fail("no TYPE")
      if (seen[$1]++) fail("twice")
      if (name ~ /_bucket$/) { if ($2 < last) fail("buckets fall"); last = $2 }
      if (name ~ /_count$/ && $2 != last) fail("count is not the last bucket") }
    END { exit bad }'
}

cat >places.json <<'END'
{"primaryKey": "id", "schema": {"type": "object", "properties": {"id": {"type": "string"}}}}
END
"$TENON" table create --data d geo.places places.json
serve d --workers 2 --metrics-listen 127.0.0.1:0 || exit 1
watch=$(grep -oE 'metrics on http://[^/]*' serve.log | sed 's/metrics on //')
is "$(curl -sS -m 20 "$watch/healthz")" ok "healthz says ok"
is "$(curl -sS -m 20 "$watch/readyz")" ok "readyz says ok"
has "$(curl -sS -m 20 -D - -o /dev/null "$watch/metrics")" "text/plain; version=0.0.4" \
    "metrics are of the text format 0.0.4"
session
mcp '{"jsonrpc":"2.0","id":1,"method":"tools/list"}' "$session" >/dev/null
mcp '{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"create_places","arguments":{"id":"a"}}}' "$session" >/dev/null
mcp '{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"nothing"}}' "$session" >/dev/null
mcp '{"jsonrpc":"2.0","id":4,"method":"no/such\"method"}' "$session" >/dev/null
mcp '[{"jsonrpc":"2.0","id":5,"method":"ping"}]' "$session" >/dev/null
page=$(curl -sS -m 20 "$watch/metrics")
is "$(strict <<<"$page")" "" "metrics: the format holds strictly"
is "$(metric 'tenon_requests_total{method="initialize",outcome="ok"}')" 1 "metrics: a method that went well"
is "$(metric 'tenon_requests_total{method="tools/call",outcome="error"}')" 1 "metrics: an error"
is "$(metric 'tenon_requests_total{method="other",outcome="error"}')" 1 \
    "metrics: what a client calls a method is no label"
is "$(metric tenon_sessions)" 1 "metrics: sessions"
is "$(metric tenon_change_sequence)" 2 "metrics: the sequence of the last change"
ok "metrics: what the store holds" test "$(metric tenon_store_used_bytes)" -gt 0
has "$page" 'tenon_worker_cpu_seconds_total{worker="1"} 0.' "metrics: CPU by worker"

# ---- a stream that opens and ends
curl -sN -m 60 -H 'Accept: text/event-stream' -H "$session" "$url" >stream.out 2>/dev/null &
listener=$!
reap "$listener"
ok "metrics: an open stream is seen" until_true 10 is_metric tenon_streams_open 1
kill "$listener"
ok "metrics: and that it is gone" until_true 10 is_metric tenon_streams_open 0

# ---- a worker that dies
total() { curl -sS -m 20 "$watch/metrics" | awk '/^tenon_request_seconds_count/ {print $2}'; }
before=$(total)
unready() { [ "$(code "$watch/readyz")" = 503 ]; }
worker() { ps -o pid,comm --ppid "$server" | awk '/worker 0/ {print $1}'; }
# deaths in a row are answered later and later, so that there is time to see it
kill_and_see() { kill -9 $(worker); unready; }
ok "readyz: 503 while a worker is missing" until_true 20 kill_and_see
ready() { [ "$(code "$watch/readyz")" = 200 ]; }
ok "readyz: and 200 when it is back" until_true 20 ready
ok "healthz does not mind" test "$(code "$watch/healthz")" = 200
is "$(total)" "$before" "metrics: counters outlive a worker"
ok "metrics: its starts are counted" test "$(metric 'tenon_worker_starts_total{worker="0"}')" -gt 1

# ---- what is refused
is "$(code "$watch/")" 404 "another path"
is "$(code "$watch/metrics/../../etc/passwd" --path-as-is)" 404 "a path that climbs"
is "$(code -X POST -d x "$watch/metrics")" 405 "another method"
is "$(code -H 'Host: evil.example' "$watch/metrics")" 403 "a Host that is a name"
is "$(code -H "Host: localhost:1" "$watch/metrics")" 200 "a Host that is this machine"
is "$(code -H "X-Long: $(printf '%09000d' 0)" "$watch/metrics")" 431 "MONITOR_HEAD_BYTES: a head that is too long"
hold() { exec {held}<>"/dev/tcp/127.0.0.1/${watch##*:}"; }
for ((i = 0; i < 16; i++)); do hold; done
is "$(code "$watch/healthz")" 200 "MONITOR_CONNS_MAX, MONITOR_DEADLINE_S: who says nothing makes room"
ok "the server ends in good order" stop

# ---- where it listens
serve d --workers 1 --metrics-listen "127.0.0.1:0" || exit 1
taken=$(grep -oE 'metrics on http://[^/]*' serve.log | tail -1 | sed 's/.*://')
out=$(timeout 20 "$TENON" serve --data e --listen 127.0.0.1:0 --metrics-listen "127.0.0.1:$taken" 2>&1)
is "$?" 1 "a port that is taken: status"
has "$out" "cannot listen for metrics on 127.0.0.1 port $taken" "a port that is taken: message"
out=$(timeout 20 "$TENON" serve --data e --metrics-listen nowhere 2>&1)
is "$?" 2 "no address: status"
has "$out" "HOST:PORT, such as 127.0.0.1:9750, or off" "no address: message"
stop
before=$(grep -c "metrics on" serve.log)
serve d --workers 1 || exit 1
is "$(grep -c "metrics on" serve.log)" "$before" "off is off"
stop
plan
