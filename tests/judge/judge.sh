#!/bin/bash
# tests/judge/judge.sh - ajv on the published schemas against the generated tables.
. "$(dirname "$0")/../tap.bash"
cd "$top" || exit 1
verdicts=${VERDICTS:-$top/build/asan/tests/judge/verdicts} # sanitized: so many odd inputs are also a test of the reader

if ! conformance/install 2>"$tmp/npm"; then
    skip "judge: ajv against the tables" "no node modules: $(head -1 "$tmp/npm")"
    plan
elif [ ! -d "$shared/spec/official" ] || [ ! -d "$shared/spec/examples" ]; then
    skip "judge: ajv against the tables" "$shared/spec is missing (set TENON_SHARED)"
    plan
elif [ ! -x "$verdicts" ]; then
    ok "judge: $verdicts is built" false
    plan
else
    node conformance/judge/judge.mjs "$shared" "$verdicts"
fi
