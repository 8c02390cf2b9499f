#!/bin/sh
# Tori: structure, twist, mixed orders in closed form and as flows, bills of optically switched slices.
weft() { echo "$ weft $*"; "$WEFT" "$@" 2>&1 || echo "exit $?"; echo; }

weft topo torus:4x4x8@300
weft topo torus:4x4x8+twist@300
for network in torus:4x4x8+twist@300 torus:3x6x6+twist@300 torus:2x3x4x5@700; do
    "$WEFT" topo $network >"$TMPDIR/closed"
    "$WEFT" topo $network --igraph | diff "$TMPDIR/closed" - && echo "$network: the graph agrees with the closed forms"
done

for network in torus:4x4x4@300 torus:4x4x8@300 torus:4x4x8+twist@300 "ring:4@100 ring:4@100 ring:8@100"; do
    for kind in all-reduce all-to-all; do
        printf "network: '%s'\nworkload: { step: { %s: { size_MB: 1000, group: all } } }\n" "$network" $kind >"$TMPDIR/s.yaml"
        echo "# $network, $kind"
        for model in bandwidth alpha-beta flow; do
            "$WEFT" sim "$TMPDIR/s.yaml" --set model=$model | grep "one step"
        done
    done
done
printf "network: { dims: [ { name: t, shape: torus, sizes: [ 4, 4, 8 ], bw_GBps: 300, algorithm: fixed-order } ] }\n" >"$TMPDIR/s.yaml"
printf "workload: { step: { all-reduce: { size_MB: 1000, group: all } } }\n" >>"$TMPDIR/s.yaml"
weft sim "$TMPDIR/s.yaml" --set model=alpha-beta
weft sweep configs/studies/torus-slices.yaml
weft topo configs/studies/torus-slices.yaml --bill
weft topo configs/studies/torus-slices.yaml --bill --set 'network.parts.build=[{tier: ici, end_link: copper 50 GB/s}]'

echo "# bisection: the same in any order of axes, at most where other halves may have less"
for network in torus:16x8@20 torus:8x16@20 "ring:16@10 ring:8@10" torus:5x5x3@30 torus:2x7@18 hyperx:2x16@160 hammingmesh:4x1x8x8@20; do
    echo "$network: $("$WEFT" topo "$network" | grep bisection)"
    "$WEFT" topo "$network" --of json -o - >"$TMPDIR/closed"
    "$WEFT" topo "$network" --igraph --of json -o - >"$TMPDIR/found"
    grep -o '"bisection[^,]*' "$TMPDIR/closed" >"$TMPDIR/a"
    grep -o '"bisection[^,]*' "$TMPDIR/found" | diff "$TMPDIR/a" - && echo "the graph agrees"
done
"$WEFT" topo torus:2x7@18 --of csv -o - | sed '/^#/d' | cut -d, -f1,11-13
"$WEFT" topo torus:16x8@20 --graphml "$TMPDIR/t.graphml" -q >"$TMPDIR/closed"
"$WEFT" topo "$TMPDIR/t.graphml" | grep bisection
