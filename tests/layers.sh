#!/bin/bash
# tests/layers.sh - every include follows the arrows:
#   main -> net, store -> core -> schema -> generated -> wire -> base        codegen -> base
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
    [codegen]="codegen base"
)

# lists "file: include" for each project include of a room that is not allowed
wrong_arrows() {
    local room=$1 allowed=" $2 " file target bad=0
    while IFS=: read -r file target; do
        target=${target#*\"}
        target=${target%\"*}
        case $target in
        */*) [[ $allowed == *" ${target%%/*} "* ]] && continue ;;
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
ok "layers: lmdb.h is included by one file" only_in lmdb.h '^runtime/store/lmdb[a-z_]*\.c$'
ok "layers: at most one file includes lmdb.h" \
    test "$(grep -rlE 'include <lmdb.h>' runtime | wc -l)" -le 1
ok "layers: libwebsockets.h only under net" only_in libwebsockets.h '^runtime/net/'
ok "layers: cbor.h only under store" only_in cbor.h '^runtime/store/'
plan
