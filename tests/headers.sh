#!/bin/bash
# tests/headers.sh - every header compiles alone, twice in a row, with all warnings as errors.
. "$(dirname "$0")/tap.bash"
cd "$top" || exit 1

alone() {
    printf '#include "%s"\n#include "%s"\n' "$1" "$1" |
        gcc -std=gnu11 -D_GNU_SOURCE -Wall -Wextra -Wstrict-prototypes -Werror -Iruntime -I. \
            -fsyntax-only -x c -
}
for header in runtime/*.h runtime/*/*.h codegen/*.h generated/*.h; do
    [ -f "$header" ] && ok "headers: $header compiles alone" alone "$header"
done
plan
