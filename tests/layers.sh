#!/bin/bash
# tests/layers.sh - every include follows the arrows:
#   main -> net, store, manifest, auth -> core -> schema -> generated -> wire -> base        codegen -> base
. "$(dirname "$0")/tap.bash"
cd "$top" || exit 1

declare -A may=(
    [runtime/base]="base"
    [runtime/wire]="wire base"
    [generated]="generated wire base"
    [runtime/schema]="schema generated wire base"
    [runtime/core]="core schema generated wire base"
    [runtime/net]="net core schema generated wire base"
    [runtime/store]="store core schema generated wire base"
    [runtime/manifest]="manifest core schema generated wire base"
    [runtime/auth]="auth core schema generated wire base"
    [codegen]="codegen base"
)

# lists "file: include" for each project include of a room that is not allowed
wrong_arrows() {
    local room=$1 allowed=" $2 " file target bad=0
    while IFS=: read -r file target; do
        target=${target#*\"}
        target=${target%\"*}
        case $target in
        */*)
            [[ $target == "$room"/* && -f ${target%.h}.y ]] && continue # lemon's, under build/
            [[ $allowed == *" ${target%%/*} "* ]] && continue ;;
        *) continue ;; # of its own folder, or what re2c and lemon make
        esac
        echo "$file: $target"
        bad=1
    done < <(grep -rHE '^ *# *include +"' --include='*.[chy]' --include='*.re' "$room" 2>/dev/null)
    return $bad
}

# only_in HEADER PATTERN: the header is included by no file but those whose path fits
only_in() {
    ! grep -rlE "^ *# *include +[<\"]$1[>\"]" --include='*.[chy]' --include='*.re' runtime codegen generated 2>/dev/null |
        grep -vE "$2"
}

for room in "${!may[@]}"; do
    ok "layers: $room includes only ${may[$room]}" wrong_arrows "$room" "${may[$room]}"
done
ok "layers: lmdb.h is included by one file" only_in lmdb.h '^runtime/store/lmdb_env\.h$'
ok "layers: at most one file includes lmdb.h" \
    test "$(grep -rlE 'include <lmdb.h>' runtime | wc -l)" -le 1
ok "layers: libwebsockets.h only under net" only_in libwebsockets.h '^runtime/net/'
ok "layers: cbor.h only under store" only_in cbor.h '^runtime/store/'
ok "layers: openssl/ssl.h only under net and in the client of doctor" \
    only_in openssl/ssl.h '^runtime/(net/|cli_link\.h)'
ok "layers: cjose.h and curl.h only under auth" only_in '(cjose/cjose|curl/curl).h' '^runtime/auth/'

# unused SYMBOL: no line of code names it; comments may say why not
unused() {
    ! grep -rnwE "$1" --include='*.[chy]' --include='*.re' runtime codegen generated 2>/dev/null |
        grep -vE '^[^:]*:[0-9]+: *(/?\*|//)'
}
ok "layers: cbor_load is not used (allocates what the input claims)" unused cbor_load
ok "layers: lws_rx_flow_control is not used (stops writing as well)" unused lws_rx_flow_control
ok "layers: MDB_WRITEMAP is not used (a full disk would be SIGBUS)" unused MDB_WRITEMAP
ok "layers: project headers are included with quotes" \
    eval "! grep -rnE '^ *# *include +<(base|wire|generated|schema|core|net|store|codegen)/' runtime codegen generated tests"

# A function of ours that has the name of a library's is called by all libraries instead of that
# one: a second json_object would be jansson's for libcjose.
stands_in() { nm -D --defined-only "$1" | awk '$2 == "T" && $3 !~ /^tenon_/ { print $3 }' | LC_ALL=C sort | xargs; }
if [ -x "$TENON" ]; then
    is "$(stands_in "$TENON")" "SSL_read recv" "layers: the program stands in for two functions of libraries (net/received.c)"
else
    skip "layers: the program stands in for two functions of libraries" "$TENON is not built"
fi

# the checks themselves, on a tree with one fault of each kind
catches() { (cd "$tmp" && ! "$@" >/dev/null); }
mkdir -p "$tmp/runtime/base" "$tmp/runtime/core"
printf '#include "wire/tape.h"\n' >"$tmp/runtime/base/up.c"
printf '#include "runtime/base/none.h"\n' >"$tmp/runtime/base/lost.re"
printf '#include "base/str.h"\n# include <lmdb.h>\nvoid f(void) { cbor_load(); }\n' \
    >"$tmp/runtime/core/below.c"
ok "layers: a wrong arrow is seen" catches wrong_arrows runtime/base "base"
ok "layers: a right arrow is let pass" eval '(cd "$tmp" && wrong_arrows runtime/core "core base")'
ok "layers: lmdb.h in the wrong room is seen" catches only_in lmdb.h '^runtime/store/'
ok "layers: a banned symbol is seen" catches unused cbor_load
plan
