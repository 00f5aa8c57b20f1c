#!/bin/bash
# tests/limits.sh - every cap and time-out of base/limits.h has a test that hits it: one that names
# it, or one that the table below names because it reaches the limit by another name. A name that is
# nowhere used is told too. What has no test stands there with the reason.
. "$(dirname "$0")/tap.bash"
cd "$top" || exit 1

# NAME  FILE under tests/unit/  WORD of that file (a setting that replaces the default, a test)
hit_by=(
    "SCHEMA_RECURSION_MAX       test_json_schema_limits.c SC_14_recursion_is_bounded_and_fits_a_small_stack"
    "SCHEMA_STEPS_MAX           test_json_schema_limits.c SC_11_an_exponential_schema_meets_the_step_limit"
    "SCHEMA_CHECK_MS_MAX        test_json_schema_limits.c SC_13_many_slow_patterns_meet_the_time_limit"
    "SCHEMA_PATTERN_STEPS_MAX   test_json_schema_limits.c SC_12_a_pattern_that_explodes_is_a_limit"
    "FILTER_NODES_MAX           test_filter.c            refused_by_limit"
    "CHANGE_LOG_KEEP            test_store_contract.c    log_keep"
    "BYTES_IN_FLIGHT_MAX        test_http_limits.c       bytes_in_flight_max"
    "HTTP_BODY_DEADLINE_MS      test_http_traps.c        body_deadline_ms"
    "HTTP_KEEPALIVE_MS          test_http_traps.c        keepalive_ms"
    "HTTP_SEND_STALL_MS         test_http_limits.c       send_stall_ms"
    "HTTP_SEND_MAX_MS           test_http_limits.c       send_max_ms"
    "WORKER_STALL_MS            test_supervisor.c        stall_ms"
    "KEEPER_STALL_MS            test_supervisor.c        keeper_stall_ms"
    "STOP_GRACE_MS              test_supervisor.c        stop_grace_ms"
    "SEARCH_SCAN_ROWS           test_core_search.c       search_scan_rows"
    "OPENAPI_BYTES_MAX          test_openapi.c           tables_beyond_the_size_are_counted"
    "ORDER_BY_MAX               test_core_search.c       orders_by_what_has_none_are_refused"
)
# NAME  why no test hits it
no_test=(
    "ARENA_FIRST_BLOCK_BYTES    where an arena begins, no cap"
    "SEARCH_PAGE                what a search without a limit gets, no cap"
    "FDS_RESERVED               a share of the process's descriptors, no cap of its own"
    "RESULT_TAPE_BYTES          no result is so large: a page of rows ends at SEARCH_BYTES_MAX"
    "SCHEMA_PATTERN_DEPTH_MAX   of PCRE2, beside steps and memory: a depth is never more than the steps"
)

# NAME  what is still to be written: told at every run
owed=(
)

limits() { sed -nE 's/^#define ([A-Z][A-Z0-9_]*) +[^ ].*/\1/p' "${1:-runtime/base/limits.h}"; }
first_words() { printf '%s\n' "$@" | awk '{print $1}'; }

# names_it NAME FOLDER: as a word, or in the name of a test: beyond_NAME_it_fails
names_it() {
    grep -rqE --include='*.[ch]' --include='*.md' --include='*.sh' --exclude=limits.sh "(^|[^A-Z0-9_]|[a-z]_)$1([^A-Z0-9_]|_[a-z]|\$)" "$2"
}
# untested HEADER FOLDER: the limits that no test of the folder names and no table excuses
untested() {
    local name missing=0
    while read -r name; do
        names_it "$name" "$2" && continue
        first_words "${hit_by[@]}" "${no_test[@]}" "${owed[@]}" | grep -qx "$name" && continue
        echo "$name: no test names it"
        missing=1
    done < <(limits "$1")
    return $missing
}
all_hit() {
    local row name file word bad=0
    for row in "${hit_by[@]}"; do
        read -r name file word <<<"$row"
        grep -qw "$word" "tests/unit/$file" && continue
        echo "$name: tests/unit/$file does not hold $word"
        bad=1
    done
    return $bad
}
# rows of names that are gone, or that a test names by now
stale() {
    local name bad=0
    while read -r name; do
        limits | grep -qx "$name" || { echo "$name: not in base/limits.h"; bad=1; }
        names_it "$name" tests && { echo "$name: a test names it, no row needed"; bad=1; }
    done < <(first_words "${hit_by[@]}" "${no_test[@]}" "${owed[@]}")
    return $bad
}
unused() {
    local name bad=0
    while read -r name; do
        [ "$(grep -rlw --include='*.[chy]' --include='*.re' "$name" runtime tests | wc -l)" -gt 1 ] && continue
        echo "$name: nothing uses it"
        bad=1
    done < <(limits)
    return $bad
}

ok "limits: every limit has a test" untested runtime/base/limits.h tests
ok "limits: the tests that hit one by another name are there" all_hit
ok "limits: no row of this file is stale" eval '! stale | grep .'
ok "limits: every limit is used" unused
printf '#define FORGOTTEN_MAX 5 /* x */\n' >"$tmp/limits.h"
has "$(untested "$tmp/limits.h" tests)" "FORGOTTEN_MAX: no test names it" "limits: one without a test is seen"
[ ${#owed[@]} -eq 0 ] || printf '# no test yet: %s\n' "${owed[@]}"
plan
