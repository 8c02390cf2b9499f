#!/bin/sh
# HyperX and HammingMesh: structure against the graph, times of models, bills.
cd "$TMPDIR" || exit 1
for network in hyperx:4x4x3@80 hyperx:4x6^3@30 hammingmesh:2x2x4x3@60 hammingmesh:3x2x3x3@60; do
    "$WEFT" topo $network >closed
    "$WEFT" topo $network --igraph | diff closed - && echo "$network: the graph agrees with the closed forms"
done
"$WEFT" topo hammingmesh:2x2x16x16@200
for network in hyperx:8x8@140 hyperx:4x4^4@30 hammingmesh:2x2x4x4@200; do
    for kind in all-reduce all-to-all; do
        printf "network: '%s'\nworkload: { step: { %s: { size_MB: 1000, group: all } } }\n" "$network" $kind >s.yaml
        echo "# $network, $kind"
        for model in bandwidth alpha-beta flow; do
            "$WEFT" sim s.yaml --set model=$model | grep "^time"
        done
    done
done
# Part of a full mesh, without and with detours: 2 of 8 in each row.
for detour in false true; do
    cat >s.yaml <<EOF
network: { dims: [ { name: rack, shape: hyperx, sizes: [ 8, 8 ], bw_GBps: 140, detour: $detour } ] }
workload: { groups: { tp: { size: 2 } }, step: { all-to-all: { size_MB: 1000, group: tp } } }
EOF
    for model in bandwidth flow; do
        "$WEFT" sim s.yaml --set model=$model | grep "^time"
    done
done
cat >parts.yaml <<EOF
name: placeholders
catalogue:
  - { name: box, kind: switch, ports: 64, usd: 14280 }
  - { name: DAC, kind: cable, bw_GBps: 50, usd: 272 }
  - { name: AoC, kind: cable, bw_GBps: 50, usd: 603 }
  - { name: NIC, kind: nic, ports: 1, bw_GBps: 50, usd: 1000 }
build:
  - { tier: t, end_link: DAC, up_link: AoC, switch: box }
  - { tier: n, end_link: DAC, up_link: AoC, switch: box, nic: NIC }
EOF
# One of four planes of Hx2 with 1,024 NPUs: 32 boxes, 1,024 copper and 1,024 optical cables, 1.353 M USD; and with
# NICs of one port, four for each NPU.
for dims in "shape: hammingmesh, sizes: [ 2, 2, 16, 16 ], bw_GBps: 200, tier: t" \
    "shape: hammingmesh, sizes: [ 2, 2, 16, 16 ], bw_GBps: 200, tier: n" \
    "shape: hyperx, sizes: [ 22, 22 ], hosts: 22, bw_GBps: 50, tier: n" \
    "shape: hyperx, sizes: [ 8, 8 ], bw_GBps: 700, tier: t"; do
    printf 'network: { parts: parts.yaml, dims: [ { name: net, %s } ] }\nworkload: { step: { all-reduce: { size_MB: 1, group: all } } }\n' "$dims" >s.yaml
    "$WEFT" topo s.yaml --bill
done
