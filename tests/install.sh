#!/bin/bash
# tests/install.sh - make install puts a working program under DESTDIR, and uninstall takes it back.
. "$(dirname "$0")/tap.bash"
cd "$top" || exit 1
ok "install: it installs" env -u MAKEFLAGS make -s install DESTDIR="$tmp/root" PREFIX=/usr
has "$("$tmp/root/usr/bin/tenon" --version 2>&1)" "tenon " "install: the program runs from there"
ok "install: it uninstalls" env -u MAKEFLAGS make -s uninstall DESTDIR="$tmp/root" PREFIX=/usr
is "$(find "$tmp/root" -type f)" "" "install: nothing is left"
plan
