#!/bin/sh
# Run one program test and compare what it prints with the .golden file beside it:
#     tests/cli/run.sh [--update] WEFT tests/cli/NAME.sh
# The test runs in the root of the repository with WEFT (the program) and TMPDIR (an empty folder of its
# own) set. Both paths are shown as "weft" and "$TMPDIR", so that the golden file is the same everywhere.
set -eu

update=
if [ "${1-}" = --update ]; then
    update=yes
    shift
fi
[ $# = 2 ] || { echo "usage: tests/cli/run.sh [--update] WEFT SCRIPT" >&2; exit 2; }

cd "$(dirname "$0")/../.."
case $1 in
/*) WEFT=$1 ;;
*) WEFT=$PWD/$1 ;;
esac
script=$2
golden=${script%.sh}.golden
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/tmp"
TMPDIR=$work/tmp
LC_ALL=C
# Prices do not age while tests run.
SOURCE_DATE_EPOCH=0
export WEFT TMPDIR LC_ALL SOURCE_DATE_EPOCH

rc=0
sh "$script" >"$work/raw" 2>&1 </dev/null || rc=$?
[ $rc = 0 ] || echo "script exit $rc" >>"$work/raw"
# On a slow machine commands also say how far they are.
sed -e "s|$TMPDIR|\$TMPDIR|g" -e "s|$WEFT|weft|g" -e '/: [0-9]* s\($\|: \)/d' -e '/), about [0-9]* [a-z]*$/d' "$work/raw" >"$work/got"

if [ -n "$update" ]; then
    cmp -s "$work/got" "$golden" || { cp "$work/got" "$golden" && echo "wrote $golden"; }
elif [ -f "$golden" ]; then
    diff -u "$golden" "$work/got"
else
    echo "$golden is missing; 'make golden' writes it. Output was:"
    cat "$work/got"
    exit 1
fi
