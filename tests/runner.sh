#!/bin/bash
# tests/runner.sh - tests/run counts what it should: a test that dies, lies, hangs or is skipped.
. "$(dirname "$0")/tap.bash"
cd "$tmp" || exit 1

program() { # program NAME LINE...: a test that does this
    printf '#!/bin/bash\n' >"$1"
    printf '%s\n' "${@:2}" >>"$1"
    chmod +x "$1"
}
program good 'echo "ok 1 - a"' 'echo "ok 2 - b"' 'echo 1..2'
program bad 'echo "ok 1 - a"' 'echo "not ok 2 - b"' 'echo 1..2'
program short 'echo 1..2' 'echo "ok 1 - a"'
program silent 'exit 0'
program died 'echo "ok 1 - a"' 'echo 1..1' 'kill -SEGV $$'
program hung 'echo "ok 1 - a"' 'echo 1..1' 'exec sleep 60'
program skipping 'echo "ok 1 - a # SKIP no data"' 'echo "ok 2 - b"' 'echo 1..2'

counts() { # counts NAME STATUS LINE TEST...
    local out status
    out=$(env -u TENON_NO_SKIP TENON_TEST_TIMEOUT=1 "$top/tests/run" log "${@:4}")
    status=$?
    is "$(tail -1 <<<"$out")" "$3" "runner: $1"
    is "$status" "$2" "runner: $1: status"
}
counts "all good" 0 "2 passed, 0 failed, 0 skipped" ./good
counts "a failure" 1 "3 passed, 1 failed, 0 skipped" ./good ./bad
counts "fewer tests than planned" 1 "1 passed, 1 failed, 0 skipped" ./short
counts "nothing said" 1 "0 passed, 1 failed, 0 skipped" ./silent
counts "killed by a signal" 1 "1 passed, 1 failed, 0 skipped" ./died
counts "hanging" 1 "1 passed, 1 failed, 0 skipped" ./hung
program asan_slow "read -rt 1.5 <> <(:)" 'echo "ok 1 - a"' "echo 1..1"
counts "slow with a sanitizer" 0 "1 passed, 0 failed, 0 skipped" ./asan_slow
counts "not there" 1 "0 passed, 1 failed, 0 skipped" ./absent
program slow "while [ ! -e seen ]; do read -rt 0.02 <> <(:); done" 'echo "ok 1 - a"' "echo 1..1"
program seer "touch seen" 'echo "ok 1 - a"' "echo 1..1"
counts "beside" 0 "2 passed, 0 failed, 0 skipped" --beside ./slow ./seer
counts "a failure beside" 1 "3 passed, 1 failed, 0 skipped" --beside ./bad ./good
counts "ended beside" 1 "2 passed, 1 failed, 0 skipped" --beside ./silent ./good
counts "skipped" 0 "1 passed, 0 failed, 1 skipped" ./skipping
is "$(TENON_NO_SKIP=1 "$top/tests/run" log ./skipping | tail -1)" "1 passed, 1 failed, 0 skipped" \
    "runner: a skip fails where none is allowed"
program barred 'echo "ok 1 - a # SKIP"' 'echo 1..1' 'echo "NOT PERMITTED: to fly" >&2'
is "$(TENON_NO_SKIP=1 "$top/tests/run" log ./skipping ./barred | tail -1)" \
    "1 passed, 1 failed, 1 skipped" "runner: but not if the machine forbids the test"
slowest=$(TENON_TEST_TIMEOUT=9 "$top/tests/run" log ./good{,,,,,,,,,,} ./asan_slow | grep -A10 "^the ten slowest")
is "$(wc -l <<<"$slowest")" 11 "runner: the ten slowest are told"
has "$(sed -n 2p <<<"$slowest")" ./asan_slow "runner: the slowest first"
ending=$(TENON_TEST_TIMEOUT=9 "$top/tests/run" log ./bad ./silent ./good{,,,,,,,,,,} | sed -n '/^the failures:/,$p')
has "$ending" "./bad: not ok 2 - b" "runner: the failures once more at the end"
has "$ending" "./silent: not ok - exit 0" "runner: of programs too"
plan
