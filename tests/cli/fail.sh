#!/bin/sh
# Single failures: the table in text, JSON and CSV, of what the bill has and of what shapes have; what is refused.
study=$PWD/configs/studies/llama3-owned.yaml
cd "$TMPDIR" || exit 1
run() { echo "$ weft $*" | sed "s,[^ ]*/configs/,configs/,"; "$WEFT" "$@" 2>&1; echo "exit $?"; }
work='workload={ step: { sum: [ { compute_ms: 1 }, { all-reduce: { size_MB: 16, group: all } } ] } }'
cat >study.yaml <<..
network:
  npu: { usd: 20000, watt: 700 }
  dims:
    - { name: node, shape: ring, size: 4, bw_GBps: 400, tier: N }
    - { name: pod, shape: switch, size: 8, bw_GBps: 100, planes: 2, tier: P }
parts:
  grade: V
  catalogue:
    - { name: nic, kind: nic, ports: 1, bw_GBps: 50, usd: 1000, watt: 20 }
    - { name: box, kind: switch, ports: 64, bw_GBps: 50, usd: 10000, watt: 500, mtbf_h: 1e5 }
    - { name: end, kind: link, bw_GBps: 50, usd: 100, watt: 10 }
  build:
    - { tier: N, end_link: end }
    - { tier: P, nic: nic, switch: box, end_link: end }
workload: { step: { sum: [ { compute_ms: 1 }, { all-reduce: { size_MB: 16, group: all } } ] } }
system: { npus_per_node: 4, checkpoint: { size_GB: 200 }, repair_h: 2 }
..
echo "== with a bill and system"
run fail study.yaml
run fail study.yaml --of csv --slow-link 0.25 --slow-npu 0.9 | sed -n '1p;/^[^#]/p'
"$WEFT" fail study.yaml --of json -q | sed 's/.*"network"/"network"/; s/}, {/}\n{/g' | sed -n '1p;$p'
run fail study.yaml -q --wide --set system.tolerates.planes=false | grep ' nic\| end'
run fail study.yaml -q --wide --set system.spare_nodes=0 | grep 'NPU  \|box'
echo "== without"
run fail 'ring:4@100 fat-tree:4x4/2@50' --set "$work"
run fail 'torus:4x4@100' --set "$work" --set model=bandwidth -q --wide | grep dim
run fail 'switch:2*2@50' --set "$work" -q --wide | grep dim
# A leaf has four links to spines, a spine two to leaves.
run fail 'dragonfly+:8x2x3^4^8@50' --set 'workload={ step: { all-to-all: { size_MB: 80, group: all } } }' -q --wide | grep local
echo "== too large for flows; the bandwidths of the split; a study that varies"
run fail "$study" -q | sed -n '1,/^rest/p'
run fail 'torus:64x128x128@150' --set "$work" -q --wide | sed -n '/^healthy/,/^not timed/p;/^sum/p'
run fail study.yaml -q --set network.dims.pod.bw_GBps=null --set network.dims.node.bw_GBps=null --set total_GBps=500 | sed -n '/^healthy/,/by flow/p'
run fail study.yaml --set 'vary={ system.repair_h: [1, 2] }' | head -3

echo "== refused"
for share in 0 1 -1 x nan; do run fail study.yaml --slow-link "$share"; done
run fail study.yaml --slow-npu 1.5
run fail 'switch:4@50'
run fail 'switch:4@50' --set "$work" --set 'system={ npu_usd: 1, npu_watt: 1, mtbf: { npu_h: 0 } }'
run fail nosuch.yaml
echo "jobs: []" >jobs.yaml
for command in fail sim check tornado hetero; do run $command jobs.yaml; done
for command in place hetero gossip; do run $command study.yaml; done
run fail study.yaml -o study.yaml
