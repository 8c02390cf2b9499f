#!/bin/sh
# `make dist` gives the same bytes in two folders, under another umask, time zone and clock setting of git.
set -eu
cd "$(dirname "$0")/.."
git rev-parse HEAD >/dev/null 2>&1 || { echo "tests/dist.sh: no git here: skipped"; exit 0; }
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
for folder in a "b c"; do
    git clone -q -s . "$scratch/$folder"
done
make --no-print-directory -C "$scratch/a" dist >/dev/null
(umask 077 && cd "$scratch/b c" && git config tar.umask user && touch Makefile && TZ=Asia/Tokyo SOURCE_DATE_EPOCH=1 make --no-print-directory dist >/dev/null)
cmp "$scratch"/a/build/weft-*.tar.gz "$scratch/b c"/build/weft-*.tar.gz
# Owned by 0, in the order of names, of the time of the commit.
tar --numeric-owner --full-time --utc -tvf "$scratch"/a/build/weft-*.tar.gz >"$scratch/list"
when=$(TZ=UTC git log -1 --format=%cd --date=format-local:'%Y-%m-%d %H:%M:%S')
awk -v when="$when" '$2 != "0/0" || $4 " " $5 != when { print; bad = 1 } END { exit bad }' "$scratch/list"
cut -c 1- "$scratch/list" | awk '{ print $6 }' | LC_ALL=C sort -c
