#!/bin/bash
# tests/fuzz_json.sh - a differential fuzz of the two JSON readers (tests/fuzz/fuzz_json.c), from
# JSONTestSuite and the corpus, for FUZZ_SECONDS (60). What they disagree about, or what makes one
# crash, is left in tests/fuzz/regression/fuzz_json/, to be committed with its fix. Nice, as it runs
# beside the other tests.
. "$(dirname "$0")/tap.bash"
cd "$top" || exit 1
suite=$shared/suites/JSONTestSuite/test_parsing
fuzzer=build/fuzz/tests/fuzz/fuzz_json
name="the two JSON readers agree on what a fuzzer finds"

build() { # a make of its own: that of `make check` has other variables and jobs
    env -u MAKEFLAGS -u MFLAGS -u MAKELEVEL -u VARIANT nice make -s "$fuzzer" VARIANT=fuzz CC=clang WERROR=-Werror
}
fuzz() {
    said=$(TENON_SHARED=$shared nice -n 19 tests/fuzz/run "${FUZZ_SECONDS:-60}" "$fuzzer")
    local status=$?
    echo "$said"
    [ "$status" -eq 0 ] || tail -25 build/fuzz/fuzz_json.log
    return "$status"
}

if [ ! -d "$suite" ]; then
    skip "$name" "$suite is missing (set TENON_SHARED)"
else
    ok "the fuzzer of the JSON readers builds" build
    ok "$name for ${FUZZ_SECONDS:-60} s" fuzz
    echo "# $(head -1 <<<"${said:-}")"
fi
plan
