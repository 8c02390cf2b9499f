#!/bin/sh
# The figures of docs/ownership.md, by the commands that stand above them. FIGURES=FOLDER keeps them there:
# FIGURES=$PWD/docs/figures tests/cli/run.sh build/release/weft tests/cli/ownership.sh
docs=$PWD/docs
ln -s "$PWD/configs" "$TMPDIR/configs"
cd "$TMPDIR" || exit 1
weft() { "$WEFT" "$@" -q; }
awk '/^## / { figures = /Figures/ } /^```/ { inside = !inside; next } figures && inside' "$docs/ownership.md" >commands.sh
# shellcheck source=/dev/null
. ./commands.sh
for figure in *.svg; do
    [ -z "$FIGURES" ] || cp "$figure" "$FIGURES/$figure"
    cmp -s "$figure" "$docs/figures/$figure" && echo "docs/figures/$figure is what its command draws" || echo "docs/figures/$figure differs"
    grep -q "figures/$figure" "$docs/ownership.md" || echo "$figure is not shown"
done
sed -n 's,.*](figures/\(.*\)).*,\1,p' "$docs/ownership.md" | while read -r figure; do
    [ -f "$figure" ] || echo "$figure has no command"
done
