#!/bin/bash
# tests/check_rows.sh - tests/CHECKLIST.md tells the truth: each id that it calls tested is in the name
# of a test of that file, none stands twice, and none of the acceptance list is missing.
. "$(dirname "$0")/tap.bash"
cd "$top"
page=tests/CHECKLIST.md

rows() { sed -n 's/^| \([A-ZΔ]*-[0-9]*\) | \(.*\) |$/\1\t\2/p' "$page"; }

# A test's name: a heading of a transcript, a string in a test of ours, or a function J_05_x in C.
names_it() { # names_it ID FILE
    local before='' underscored=${1//-/_}
    [[ $2 == *.md ]] && before='^##.*'
    grep -qrE "$before((^|[^0-9A-Za-z_-])$1|(^|[^0-9A-Za-z-])$underscored)([^0-9A-Za-z-]|_|\$)" "$2"
}

untested() {
    local bad=0
    while IFS=$'\t' read -r id where; do
        case $where in
        'waits: '* | 'none: '*) continue ;;
        esac
        [ -e "$where" ] && names_it "$id" "$where" && continue
        echo "$id: no test of that name in $where"
        bad=1
    done < <(rows)
    return $bad
}

twice() {
    local again
    again=$(rows | cut -f1 | sort | uniq -d)
    [ -z "$again" ] || { echo "$again"; return 1; }
}

complete() {
    diff <({
        sed -n 's/^| \([A-ZΔ]*-[0-9]*\) |.*/\1/p' "$shared/acceptance/CHECKLIST.md"
        sed -n 's/^### \(C-[0-9]*\) .*/\1/p' "$shared/acceptance/CASES.md"
    } | sort) <(rows | cut -f1 | sort)
}

ok "every id that is called tested is in the name of a test" untested
ok "no id stands twice" twice
if [ -e "$shared/acceptance/CHECKLIST.md" ]; then
    ok "every row and case of the acceptance list is here, and no other" complete
else
    skip "every row and case of the acceptance list is here" "$shared is not there"
fi
plan
