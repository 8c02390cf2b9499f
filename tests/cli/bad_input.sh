#!/bin/sh
# Wrong input of every kind: one line `file:line:col: what is X, expected Y`, or `file: no such file`, exit 3, nothing written.
cd "$TMPDIR" || exit 1
mkdir parts
cat >parts/some.yaml <<..
name: some
rates: [ { tier: Pod, link_usd_per_GBps: 7.8, switch_usd_per_GBps: 18, nic_usd_per_GBps: 31.6 } ]
..
cat >net.yaml <<..
dims:
  - { name: node, shape: ring, size: 4 }
  - { name: pod, shape: switch, size: 8 }
..
cat >work.yaml <<..
name: toy
step: { sum: [ { compute_ms: 1 }, { all-reduce: { size_MB: 100, group: all } } ] }
..

# bad TITLE FILE [OPTIONS]
bad() {
    title=$1
    shift
    "$WEFT" alloc "$@" -o out.json >out 2>err
    echo "$title: exit $?"
    cat err
    [ "$(wc -l <err)" = 1 ] || echo "FAULT: not one line"
    grep -qE '^weft alloc: [^:]*(:[0-9]+:[0-9]+: |: (no such file|cannot be read))' err || echo "FAULT: no place"
    [ ! -s out ] || echo "FAULT: something on standard output"
    [ ! -e out.json ] || { echo "FAULT: something written"; rm -f out.json; }
}

# study: standard input becomes study.yaml
study() { cat >study.yaml; }

base() {
    cat <<..
network: net.yaml
workload: work.yaml
total_GBps: 100
..
}

{ base; echo "totl_GBps: 100"; } | study
bad "unknown key" study.yaml
{ base; echo "frobnicate: 100"; } | study
bad "unknown key without a near one" study.yaml
{ base; echo "total_GBps: 200"; } | study
bad "duplicate key" study.yaml
{ echo "total_GBps: many"; base | sed 3d; } | study
bad "wrong type" study.yaml
{ echo "total_GBps: '100'"; base | sed 3d; } | study
bad "number in quotes" study.yaml
{ echo "objective: tme"; base; } | study
bad "unknown word" study.yaml
{ echo "total_GBps: -1"; base | sed 3d; } | study
bad "out of range" study.yaml
{ echo "total_GBps: .nan"; base | sed 3d; } | study
bad "NaN" study.yaml
{ echo "total_GBps: 1e999"; base | sed 3d; } | study
bad "infinite" study.yaml
{ echo "total_GBps:"; base | sed 3d; } | study
bad "nothing" study.yaml
base | sed 1d | study
bad "no network" study.yaml
base | sed 2d | study
bad "no workload" study.yaml
{ base | sed 1d; echo "network: 'ring:16777216 ring:16777216 ring:16777216 ring:16777216 ring:16777216'"; } | study
bad "sizes whose product overflows" study.yaml
{ base | sed 1d; echo "network: { dims: [ { shape: ring, size: 1 } ] }"; } | study
bad "dimension of one member" study.yaml
{ base | sed 1d; echo "network: { dims: [ { shape: rng, size: 4 } ] }"; } | study
bad "unknown shape" study.yaml
{ base | sed 1d; echo "network: ring:4 swich:8"; } | study
bad "spec word" study.yaml

fabric() { base | sed 1d; echo "network: { dims: [ { name: pod, shape: $1 } ] }"; }
fabric "fat-tree, sizes: [ 256, 16777216 ], taper: 2" | study
bad "tree of more NPUs than there may be" study.yaml
fabric "fat-tree, sizes: [ 1, 1 ], taper: 2" | study
bad "tree of one NPU" study.yaml
fabric "fat-tree, sizes: [ 4 ], taper: 2" | study
bad "tree of one level" study.yaml
fabric "fat-tree, sizes: [ 4, 8 ], taper: [ ]" | study
bad "tree with an empty list of tapers" study.yaml
fabric "fat-tree, sizes: [ 4, 8 ], taper: 2:1" | study
bad "tree with a taper as a ratio" study.yaml
fabric "fat-tree, sizes: [ 4, 8 ], up: [ 2, 2, 2 ]" | study
bad "tree with more tiers of links than levels" study.yaml
fabric "fat-tree, size: 32, radix: 64, taper: 2" | study
bad "tree that one box would do for" study.yaml
fabric "fat-tree, size: 86, radix: 64, taper: 2" | study
bad "tree whose members do not fill leaves" study.yaml
fabric "fat-tree, size: 9, radix: 2" | study
bad "radix that cannot carry any taper" study.yaml
fabric "fat-tree, sizes: [ 32, 64 ], radix: 48" | study
bad "sizes that the radix cannot carry" study.yaml
fabric "fat-tree, size: 64" | study
bad "size of a tree without a radix" study.yaml
fabric "fat-tree, size: 64, sizes: [ 4, 16 ], radix: 64" | study
bad "size and sizes" study.yaml
fabric "fat-tree, sizes: [ 4, 4 ], spine: shared" | study
bad "spine shared across one rail" study.yaml
fabric "fat-tree, sizes: [ 4, 4 ], forward: true" | study
bad "forwarding without a shared spine" study.yaml
fabric "ring, size: 4, planes: 2" | study
bad "planes of a ring" study.yaml
fabric "fat-tree, sizes: [ 4, 4 ], planes: 2000" | study
bad "too many planes" study.yaml
fabric "ring, size: 4, nics: 2" | study
bad "NICs of a ring" study.yaml
fabric "switch, size: 4, nics: 4, planes: 3" | study
bad "planes that do not divide NICs" study.yaml
fabric "switch, size: 4, planes: 2, nics: [ { share: 0.5, nics: 1 }, { share: 0.5, nics: 2 } ]" | study
bad "planes where nodes differ in NICs" study.yaml
fabric "switch, size: 4, nics: 0" | study
bad "no NIC" study.yaml
fabric "switch, size: 4, nics: [ { share: 0.5, nics: 1 } ]" | study
bad "kinds of nodes that are not all" study.yaml
fabric "switch, size: 4, nics: [ { share: 1, nic: 1 } ]" | study
bad "kind of nodes with an unknown key" study.yaml
rails() { base | sed 1d; echo "network: { dims: [ $1, { name: pod, shape: fat-tree, sizes: [ 4, 4 ], spine: shared } ] }"; }
rails "{ shape: ring, size: 4 }" | study
bad "rails across a ring" study.yaml
rails "{ shape: torus, sizes: [ 2, 2 ] }" | study
bad "rails across a fabric" study.yaml
rails "{ shape: switch, size: 6 }" | sed 's/spine: shared/spine: shared, rails: 4/' | study
bad "rails that do not divide the node" study.yaml
rails "{ shape: switch, size: 6 }" | sed 's/spine: shared/rails: 3/' | study
bad "rails without a shared spine" study.yaml
fabric "dragonfly, sizes: [ 2, 4, 99 ], links: 2" | study
bad "dragonfly of more groups than its links can join" study.yaml
fabric "dragonfly, sizes: [ 2, 4, 9 ]" | study
bad "dragonfly without links between groups" study.yaml
fabric "dragonfly, sizes: [ 1, 4096, 4096 ], links: 1" | study
bad "dragonfly whose routers need too many ports" study.yaml
fabric "torus, sizes: [ 4 ]" | study
bad "torus of one axis" study.yaml
fabric "torus, sizes: [ 4, 1 ]" | study
bad "torus with an axis of one" study.yaml
fabric "torus, sizes: [ 4, 6 ], twist: true" | study
bad "twist of sizes that have none" study.yaml
fabric "torus, sizes: [ 8, 4, 4 ], twist: true" | study
bad "twist with the long axis first" study.yaml
fabric "torus, sizes: [ 4, 4, 6 ], ocs: true" | study
bad "circuit switches between parts of cubes" study.yaml
fabric "torus, sizes: [ 4, 4 ], algorithm: direct" | study
bad "direct exchange on a torus" study.yaml
fabric "fat-tree, sizes: [ 4, 4 ], twist: true" | study
bad "twist of a tree" study.yaml
fabric "hyperx, sizes: [ 8 ]" | study
bad "hyperx of one dimension without hosts" study.yaml
fabric "hyperx, sizes: [ 4, 1 ]" | study
bad "hyperx with a row of one" study.yaml
fabric "hyperx, sizes: [ 600, 600 ], hosts: 8" | study
bad "hyperx whose routers need too many ports" study.yaml
fabric "hyperx, sizes: [ 4, 4 ], hosts: 2, detour: true" | study
bad "detours past hosts" study.yaml
fabric "hammingmesh, sizes: [ 2, 2, 4 ]" | study
bad "hammingmesh without columns of boards" study.yaml
fabric "hammingmesh, sizes: [ 2, 2, 4, 1 ]" | study
bad "hammingmesh with one board in a column" study.yaml
fabric "hammingmesh, sizes: [ 2, 2, 4, 4 ], radix: 6" | study
bad "hammingmesh whose switches have too few ports" study.yaml
fabric "hammingmesh, size: 64, radix: 64" | study
bad "hammingmesh of a size" study.yaml
fabric "hammingmesh, sizes: [ 2, 2, 4, 4 ], algorithm: ring" | study
bad "ring on a hammingmesh" study.yaml
fabric "ring, size: 8, algorithm: mixed-orders" | study
bad "mixed orders on one ring" study.yaml
{ base | sed 1d; echo "network: torus:4x8+twisted"; } | study
bad "unknown word behind a +" study.yaml
{ base | sed 1d; echo "network: dragonfly:2x4x9^2+twist"; } | study
bad "a word that the shape has not" study.yaml
fabric "torus, sizes: [ 4, 8 ], load_balance: hash" | study
bad "hashed flows of a shape that has one path" study.yaml
fabric "fat-tree, sizes: [ 4, 2 ], up: [ 1 ], load_balance: hash" | study
bad "hashed flows where there is one path" study.yaml
fabric "fat-tree, sizes: [ 4, 8 ], flows_per_pair: 4" | study
bad "flows of a pair that are not hashed" study.yaml
fabric "fat-tree, sizes: [ 4, 8 ], load_balance: random" | study
bad "sharing out that there is not" study.yaml
{ base | sed 1d; echo "network: fat-tree:4x8+hash0"; } | study
bad "no flow of a pair" study.yaml
fabric "torus, sizes: [ 4, 8 ], routing: valiant" | study
bad "routing of a shape that has one way" study.yaml
fabric "dragonfly, sizes: [ 2, 4, 9 ], links: 2, routing: ugal" | study
bad "routing that there is not" study.yaml
fabric "hyperx, sizes: [ 4, 8 ], detour: true, routing: adaptive" | study
bad "detours and routing" study.yaml
fabric "dragonfly, sizes: [ 2, 4, 9 ], links: 2, algorithm: bruck" | study
bad "Bruck's exchanges on a dragonfly" study.yaml
fabric "dragonfly, sizes: [ 2, 4, 9 ], hosts: 2, links: 2" | study
bad "dragonfly with sizes and hosts" study.yaml
fabric "dragonfly, hosts: 2, groups: 9, links: 2" | study
bad "dragonfly without routers" study.yaml
fabric "fat-tree, hosts: 2" | study
bad "fat tree with the key of a dragonfly" study.yaml
fabric "dragonfly+, hosts: 2, leaves: 2, groups: 5, links: 2" | study
bad "dragonfly+ without spines" study.yaml
fabric "dragonfly+, sizes: [ 2, 2, 6 ], spines: 2, links: 2" | study
bad "dragonfly+ of more groups than its links can join" study.yaml
fabric "dragonfly+, sizes: [ 2000, 2, 5 ], spines: 2, links: 2" | study
bad "dragonfly+ whose leaves need too many ports" study.yaml
fabric "slim-fly, hosts: 4, q: 6" | study
bad "slim fly of 4 w + 2" study.yaml
fabric "slim-fly, sizes: [ 4, 60 ]" | study
bad "slim fly of a number of routers that is not 2 q^2" study.yaml
fabric "slim-fly, hosts: 4, q: 5, links: 2" | study
bad "slim fly with links between groups" study.yaml
fabric "slim-fly, hosts: 4, q: 1021" | study
bad "slim fly whose routers need too many ports" study.yaml

step() { base | sed 2d; echo "workload:"; echo "  groups: { g: $1 }"; echo "  step: { all-reduce: { size_MB: 1, group: $2 } }"; }
step "{ size: 3 }" g | study
bad "group that does not divide its dimension" study.yaml
step "{ members: [ 4, 3 ] }" g | study
bad "group of members that does not divide" study.yaml
step "{ size: 64 }" g | study
bad "group with more members than there are" study.yaml
step "{ members: [ 4, 8, 2 ] }" g | study
bad "workload for another number of dimensions" study.yaml
step "{ size: 4 }" h | study
bad "unknown group" study.yaml

# plan MODEL PARALLEL
plan() {
    base | sed 2d
    echo "workload: { model: { layers: 2, hidden: 64, heads: 4, vocab: 128, seq: 64 $1 }, parallel: { batch: 32, $2 } }"
}
moe=", moe: { experts: 32, top_k: 4, ffn: 64 }"
npu() { sed 's/^network: .*/network: { npu: { peak_TFLOPS: 100, mem_GB: 80, mem_GBps: 2000 }, dims: [ { name: node, shape: ring, size: 4 }, { name: pod, shape: switch, size: 8 } ] }/'; }
plan "" "dispatcher: merged" | npu | study
bad "merged dispatch without experts" study.yaml
plan "$moe" "dispatcher: merged" | npu | study
bad "merged dispatch within one NPU" study.yaml
plan "$moe" "ep: 16, dispatcher: merged, node_limit: 5" | npu | study
bad "node limit above the nodes" study.yaml
plan "$moe" "ep: 32, dispatcher: merged, node_limit: 1, dispatch_bits: 12" | npu | study
bad "dispatch of 12 bits" study.yaml
plan "" "precision: mxfp8" | npu | study
bad "precision that the NPU has no peak for" study.yaml
plan "" "recompute_ops: [ core, gelu ]" | npu | study
bad "operator that is none" study.yaml
plan "" "offload: 0.5" | npu | study
bad "offload without the host's bandwidth" study.yaml
plan "$moe" "ep: 8, node_limit: 2" | npu | study
bad "node limit of an all-to-all" study.yaml
plan "$moe" "ep: 8, ep_overlap: shared" | npu | study
bad "overlap with shared experts that there are not" study.yaml
plan "$moe" "ep: 8, software: megatron, graph: step" | npu | study
bad "graph of a step with dropless all-to-alls" study.yaml
plan "$moe, sink: true" "ep: 8, attention_kernel: fa2" | npu | study
bad "sinks by a kernel without" study.yaml
plan ", window_every: 2" "" | npu | study
bad "layers without a window between layers without one" study.yaml

{ base; echo "constraints: [ 'pod <= 50', '2*pdo + node >= 1' ]"; } | study
bad "constraint that names no dimension" study.yaml
{ base; echo "constraints: [ 'pod <= 50 <= node' ]"; } | study
bad "constraint that is a chain" study.yaml
{ base; echo "constraints: [ 'usd <= 1e6' ]"; } | study
bad "price without parts" study.yaml
{ base; echo "parts: parts/some.yaml"; } | study
bad "dimension without a tier" study.yaml
{ base; echo "parts: parts/some.yaml"; } | study
bad "tier without a price" study.yaml --set network.dims.node.tier=Node --set network.dims.pod.tier=Pod
bad "detours on a switch" study.yaml --set network.dims.pod.detour=true
{ base; echo "simulation: { semantics: libre }"; } | study
bad "semantics that there is not" study.yaml
{ base; echo "objective: perf_per_cost"; } | study
bad "objective without prices" study.yaml
{ base; echo "parts: nosuch.yaml"; } | study
bad "file that is missing" study.yaml
bad "study that is missing" nosuch.yaml
bad "folder" parts
: >study.yaml
bad "empty file" study.yaml
echo "# nothing" >study.yaml
bad "comment alone" study.yaml
{ base; echo "name: &a x"; echo "source: *a"; } | study
bad "alias" study.yaml
{ base; printf 'name: "a\001b"\n'; } | study
bad "control character" study.yaml
awk 'BEGIN { for (i = 0; i < 200000; i++) printf "[" }' >study.yaml
bad "200,000 nested brackets" study.yaml
awk 'BEGIN { for (i = 0; i < 200000; i++) printf "{a: " }' >study.yaml
bad "200,000 nested maps" study.yaml
printf '\177ELF\002\001\001\000\377\376\000\000\200rubbish\n\n\303\050' >study.yaml
bad "binary rubbish" study.yaml
printf '\377\376\000\001' | cat - work.yaml >study.yaml
bad "more rubbish" study.yaml
printf 'network: net.yaml\n\tworkload: work.yaml\n' >study.yaml
bad "tab" study.yaml
base | study
bad "override of an unknown key" study.yaml --set network.dims.pod.sise=4
bad "override of a dimension that is not there" study.yaml --set network.dims.rack.size=4
bad "override of an index without brackets" study.yaml --set network.dims.0.size=4
bad "override past the end" study.yaml --set 'network.dims[5].size=4'
bad "override that is no YAML" study.yaml --set 'constraints=[pod'
