#!/bin/sh
# The tests that docs/ownership.md names, and its figures, by the commands that stand above them. FIGURES=FOLDER keeps them there:
# FIGURES=$PWD/docs/figures tests/cli/run.sh build/release/weft tests/cli/ownership.sh
docs=$PWD/docs
sed -n 's/^| [^|]* | \(`[a-z].*`\) |.*/\1/p' docs/ownership.md | tr -d '`,' | tr ' ' '\n' | grep -E '_.*_.*_' | sort -u >"$TMPDIR/named"
while read -r name; do
    grep -q "^TEST($name)" tests/unit/test_topo_*.c tests/unit/test_kinds_*.c || echo "no test $name"
done <"$TMPDIR/named"
[ "$(wc -l <"$TMPDIR/named")" -gt 25 ] && echo "the tests of all formulas exist"
ln -s "$PWD/configs" "$TMPDIR/configs"
cd "$TMPDIR" || exit 1
weft() { "$WEFT" "$@" -q; }
awk '/^## / { figures = /Figures/ } /^```/ { inside = !inside; next } figures && inside' "$docs/ownership.md" >commands.sh
. ./commands.sh
for figure in *.svg; do
    [ -z "$FIGURES" ] || cp "$figure" "$FIGURES/$figure"
    cmp -s "$figure" "$docs/figures/$figure" && echo "docs/figures/$figure is what its command draws" || echo "docs/figures/$figure differs"
    grep -q "figures/$figure" "$docs/ownership.md" || echo "$figure is not shown"
done
for figure in $(sed -n 's,.*](figures/\(.*\)).*,\1,p' "$docs/ownership.md"); do
    [ -f "$figure" ] || echo "$figure has no command"
done
