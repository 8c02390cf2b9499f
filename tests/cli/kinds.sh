#!/bin/sh
# The table of kinds of networks in docs/guide/topologies.md is what its study says: each kind with its own best plan.
"$WEFT" sweep configs/studies/fabrics-plans.yaml -q -o "$TMPDIR/kinds.csv" 2>&1
sed '/^#/d' "$TMPDIR/kinds.csv" | awk -F, '
    NR == 1 { for (i = 1; i <= NF; i++) col[$i] = i; next }
    { printf "| %s | %s | %s | %.2f | %.1f | %s |\n", $(col["network"]), $(col["workload"]), $(col["status"]), $(col["time_s"]), $(col["cost_usd"]) / 1e6, $(col["plan"]) }' |
    tee "$TMPDIR/rows"
echo "== in the guide"
awk -F' [|] ' '{ sub(/^[|] /, "", $1); t[$1] = t[$1] " | " $4; usd[$1] = $5 } END { for (k in t) print "| " k " | " usd[k] t[k] " |" }' "$TMPDIR/rows" | sort |
    while read -r row; do
        grep -qF "$row" docs/guide/topologies.md && echo "$row: so" || echo "$row: docs/guide/topologies.md does not say so"
    done
