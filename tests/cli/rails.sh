#!/bin/sh
# Which spine for 64 nodes of 8 H100 on rails? Counts: 8 rails of 2 leaves; 512 links of 50 GB/s, half of them up.
study=$PWD/configs/studies/rails-taper.yaml
cd "$TMPDIR" || exit 1
run() { echo "\$ weft $*" | sed "s,[^ ]*/configs/,configs/,"; "$WEFT" "$@" 2>&1 | sed "s,[^ ]*/configs/,configs/,"; }
run topo "$study" --bill
"$WEFT" topo "$study" >closed
"$WEFT" topo "$study" --igraph | diff closed - && echo "the graph agrees with the closed forms"
run explain "$study" | sed -n '/^collective/,/^one more/p'
run sim "$study" --set network.dims.pod.taper=1 | grep '^time'
run sim "$study" | grep '^time'
run alloc "$study" --set network.dims.pod.taper=free | sed -n '1,/^constraints/p'
run sweep "$study"

echo "== all-to-all through the spine and inside the node"
cat >step.yaml <<..
network:
  dims:
    - { name: node, shape: switch, size: 8, bw_GBps: 450 }
    - { name: pod, shape: fat-tree, sizes: [ 8, 2 ], taper: 2, spine: shared, bw_GBps: 50 }
workload:
  step: { all-to-all: { size_B: 1e9, group: all } }
..
run sim step.yaml --model all
run sim step.yaml --model all --set network.dims.pod.forward=true

echo "== planes: 18 chips of NVL72"
run topo "switch:72*18@900"
"$WEFT" topo "switch:72*18@900" >closed
"$WEFT" topo "switch:72*18@900" --igraph | diff closed - && echo "the graph agrees with the closed forms"
sed 's/size: 8, bw_GBps: 450/size: 8, planes: 4, bw_GBps: 450/; s/taper: 2/taper: 2, planes: 2/' step.yaml >planes.yaml
run sim planes.yaml --model flow | sed -n '1,/latency/p'
cat >parts.yaml <<..
name: p
catalogue:
  - { name: nic, kind: nic, bw_GBps: 50, ports: 1, usd: 1000 }
  - { name: box, kind: switch, bw_GBps: 50, ports: 8, usd: 100 }
  - { name: wire, kind: cable, bw_GBps: 50, usd: 10 }
build:
  - { tier: t, nic: nic, switch: box, end_link: wire, up_link: wire }
..
priced() { printf 'parts: parts.yaml\ndims: [ %s ]\n' "$1" >net.yaml; run topo net.yaml --bill | sed -n '/^for/,$p; /^weft/p'; }
priced '{ shape: switch, size: 8, planes: 4, bw_GBps: 200, tier: t }'
priced '{ shape: switch, size: 8, planes: 4, bw_GBps: 150, tier: t }'
echo "== NICs that NPUs share, and nodes that differ"
priced '{ shape: full, size: 2, bw_GBps: 50, tier: t }, { shape: switch, size: 8, nics: 0.5, bw_GBps: 25, tier: t }'
priced '{ shape: full, size: 2, bw_GBps: 50, tier: t }, { shape: switch, size: 8, nics: 0.5, bw_GBps: 50, tier: t }'
priced '{ shape: full, size: 2, bw_GBps: 50, tier: t }, { shape: switch, size: 8, nics: [ { share: 0.5, nics: 1 }, { share: 0.5, nics: 2 } ], bw_GBps: 50, tier: t }'
priced '{ shape: full, size: 2, bw_GBps: 50, tier: t }, { shape: switch, size: 8, nics: 4, planes: 2, bw_GBps: 200, tier: t }'
priced '{ shape: full, size: 2, bw_GBps: 50, tier: t }, { shape: switch, size: 8, nics: 2, planes: 4, bw_GBps: 100, tier: t }'
priced '{ shape: fat-tree, sizes: [ 3, 4 ], nics: 0.5, bw_GBps: 25, tier: t }'
sed 's/spine: shared, bw_GBps: 50/spine: shared, nics: 0.5, tier: t/; s/bw_GBps: 450/bw_GBps: 450, tier: n/; 1a\  parts: nparts.yaml' step.yaml >nics.yaml
sed 's/ports: 8/ports: 64/; s/^build:/build:\n  - { tier: n, switch: box, end_link: wire, up_link: wire }/' parts.yaml >nparts.yaml
run alloc nics.yaml --set total_GBps=475 | sed -n '/^dimension/,/^$/p'
run alloc nics.yaml --set total_GBps=500 | head -3
run sim nics.yaml --set network.dims.pod.bw_GBps=25 --set 'network.dims.pod.nics=[{ share: 0.5, nics: 1 }, { share: 0.5, nics: 0.5 }]' --model bandwidth | grep 'differ\|^time'
echo "== trees in whole parts"
priced '{ shape: fat-tree, sizes: [ 4, 8 ], planes: 2, bw_GBps: 100, tier: t }'
priced '{ shape: fat-tree, sizes: [ 4, 16 ], bw_GBps: 50, tier: t }'

echo "== a tree of 4 leaves of 8, taper 2, 1 GB, 100 GB/s: 15, 19.375, 21.25, 21.25 and 30 ms by counting bytes and adding stages up"
tree() { # COLLECTIVE GROUP ALGORITHM
    cat >tree.yaml <<..
network:
  dims: [ { name: pod, shape: fat-tree, sizes: [ 8, 4 ], taper: 2, bw_GBps: 100, algorithm: $3 } ]
workload:
  groups: { g: $2 }
  step: { $1: { size_B: 1e9, group: g } }
model: flow
simulation: { chunks: 1 }
..
    "$WEFT" sim tree.yaml 2>&1 | grep '^time\|^weft'
}
tree all-to-all "{ members: [ 8, 4 ] }" default
tree all-reduce "{ members: [ 8, 4 ] }" ring
tree all-reduce "{ members: [ 8, 4 ] }" halving-doubling
tree all-reduce "{ members: [ 8, 4 ] }" default
tree all-reduce "{ members: [ 1, 4 ] }" default

echo "== 1,024 NPUs, leaves of 32, taper 2, S/B = 20 ms: level by level, farthest first, one of each leaf, all-to-all"
step_of() { # MODEL ALGORITHM MEMBERS COLLECTIVE
    printf 'network: { dims: [ { name: pod, shape: fat-tree, sizes: [ 32, 32 ], taper: 2, bw_GBps: 50, algorithm: %s } ] }\n' "$2" >tree.yaml
    printf 'workload: { groups: { g: { members: %s } }, step: { %s: { size_B: 1e9, group: g } } }\n' "$3" "$4" >>tree.yaml
    [ "$1" = bandwidth ] || echo 'simulation: { chunks: 1 }' >>tree.yaml
    "$WEFT" sim tree.yaml --model "$1" -q 2>&1 | grep '^time\|^weft'
}
for m in bandwidth alpha-beta chunk flow; do
    step_of $m default "[ 32, 32 ]" reduce-scatter
    step_of $m halving-farthest "[ 32, 32 ]" reduce-scatter
    step_of $m default "[ 1, 32 ]" reduce-scatter
done
step_of bandwidth default "[ 32, 32 ]" all-to-all

echo "== in 8 chunks the levels work at once; which classes a stage loads, and which of them decides"
step_of alpha-beta default "[ 32, 32 ]" reduce-scatter
for m in alpha-beta chunk; do run sim tree.yaml --model $m --set simulation.chunks=8 -q; done
run sim tree.yaml --model chunk --timeline t.json -q -o sim.txt
grep '"X"\|"thread_name"' t.json
run sim tree.yaml --model chunk --timeline t.csv -q -o sim.txt -f
grep -v '^#' t.csv
run sweep tree.yaml -q --set 'vary={ model: [ bandwidth, alpha-beta, chunk, flow ], network.dims.pod.taper: [ 1, 4 ] }'
run explain tree.yaml --set model=chunk -q
run sim tree.yaml --model chunk --set 'simulation.slow=[{ at: [ 3, 5 ], dim: pod.up1, share: 0.5 }]'
run sim tree.yaml --model chunk --set 'simulation.slow=[{ at: [ 3, 5 ], share: 0.5 }]' -q

echo "== sizes from the ports of a box: leaves of 32 of 42, as 42 do not divide 2,048; 8 rails leave a pod room for 4 leaves of each"
sized() { printf 'name: sized\ndims: [ %s ]\n' "$1" >net.yaml; "$WEFT" topo net.yaml 2>&1 | grep 'in one word\|^weft'; }
sized '{ shape: fat-tree, size: 2048, radix: 64, taper: [ 2, 1 ] }'
sized '{ shape: fat-tree, size: 65536, radix: 64 }'
sized '{ shape: full, size: 8 }, { shape: fat-tree, size: 1024, radix: 64, spine: shared }'
sized '{ shape: full, size: 8 }, { shape: fat-tree, size: 32, radix: 64, spine: shared }'
sized '{ shape: fat-tree, size: 131072, radix: 16 }'

echo "== reductions in the switches: S on injection, S/8 on up1, S/32 on up2, of one member a leaf S on up1"
shared() { # MODEL MEMBERS COLLECTIVE KEYS
    printf 'network: { dims: [ { name: pod, shape: fat-tree, sizes: [ 8, 4, 2 ], taper: [ 2, 1 ], bw_GBps: 50, latency_ns: 1000, %s } ] }\n' "$4" >sharp.yaml
    printf 'workload: { groups: { g: { members: %s } }, step: { %s: { size_B: 1e9, group: g } } }\nmodel: %s\n' "$2" "$3" "$1" >>sharp.yaml
    "$WEFT" sim sharp.yaml -q 2>&1 | grep '^one step\|^pod\|^weft'
}
for m in alpha-beta chunk flow; do shared $m "[ 8, 4, 2 ]" all-reduce "in_switch: sharp"; done
shared alpha-beta "[ 8, 4, 2 ]" all-reduce "in_switch: none"
shared flow "[ 1, 4, 1 ]" all-reduce "in_switch: sharp"
shared alpha-beta "[ 8, 4, 2 ]" all-reduce "in_switch: sharp, in_switch_min: 128"
shared alpha-beta "[ 8, 4, 2 ]" all-reduce "in_switch: nvls"
shared bandwidth "[ 8, 4, 2 ]" all-reduce "in_switch: sharp"

echo "== partly filled: 13 of 16 nodes on 4 rails, all of them in one group; what is not known is refused"
run topo "switch:8@450 fat-tree:4x4/2+rails4+filled13@50"
"$WEFT" topo "switch:8@450 fat-tree:4x4/2+rails4+filled13@50" >closed
"$WEFT" topo "switch:8@450 fat-tree:4x4/2+rails4+filled13@50" --igraph | diff closed - && echo "the graph agrees with the closed forms"
cat >filled.yaml <<..
network: "switch:8@450 fat-tree:4x4/2+rails4+filled13@50"
workload: { step: { all-reduce: { size_B: 1e9, group: all } } }
..
for m in bandwidth alpha-beta flow; do run sim filled.yaml --model $m -q; done
for bad in filled12 filled17 "filled15+hash" fill3; do run topo "fat-tree:4x4+$bad@50"; done
