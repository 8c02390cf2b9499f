#!/bin/sh
# Budgets: exit 0 within, 4 over, 3 where one cannot be checked. 32 NPUs at 100 and 50 GB/s cost
# 32 (4 x 100 + 58 x 50) = 105,600 USD.
ROOT=$PWD
cd "$TMPDIR" || exit 1
run() { echo "\$ weft $*"; "$WEFT" "$@" 2>&1; echo "exit $?"; }
hash() { sed 's/"study_hash": "[0-9a-f]*"/"study_hash": "HASH"/'; }
cat >study.yaml <<..
network:
  dims:
    - { name: node, shape: ring, size: 4, bw_GBps: 100, tier: Node }
    - { name: pod, shape: switch, size: 8, bw_GBps: 50, tier: Pod }
parts:
  nic_port_GBps: 25
  rates:
    - { tier: Node, link_usd_per_GBps: 4 }
    - { tier: Pod, link_usd_per_GBps: 8, switch_usd_per_GBps: 18, nic_usd_per_GBps: 32 }
workload:
  name: toy
  step: { sum: [ { compute_ms: 1 }, { all-reduce: { size_MB: 100, group: all } } ] }
budget: { nic_GBps: 50, nics: 64, usd: 110e3, time_s: 0.0025 }
..
run check study.yaml
run check study.yaml --set budget.usd=100e3 --set budget.nics=63
# 1,073,741,824 NICs: one over is over.
for nics in 1073741823 1073741824; do
    run check study.yaml --set network.dims.node.size=64 --set network.dims.pod.size=16777216 --set network.dims.pod.bw_GBps=25 \
        --set "budget={nics: $nics}"
done
run check study.yaml --of json -o json
hash <json
run check study.yaml --set budget.usd=1 --of csv -o csv
sed '/^#/d' csv
echo "== what cannot be known is not called within"
run check study.yaml --set budget.watt=1e6
sed '/nic_port/d' study.yaml >norate.yaml
run check norate.yaml
echo "== a sum that is a lower bound can still be too much"
cat >catalogue.yaml <<..
catalogue:
  - { name: nic, kind: nic, ports: 1, bw_GBps: 50, usd: 1000, watt: 25 }
  - { name: box, kind: switch, ports: 64, bw_GBps: 50, usd: 30000 }
  - { name: wire, kind: link, bw_GBps: 50, usd: 500, watt: 10 }
build:
  - { tier: Node, end_link: wire }
  - { tier: Pod, nic: nic, switch: box, end_link: wire }
..
run check study.yaml --parts catalogue.yaml --set 'budget={watt: 100}'
run check study.yaml --parts catalogue.yaml --set 'budget={watt: 1e6}'
echo "== gates at an end of bands, and racks"
sed 's/usd: 1000,/usd: { low: 900, typ: 1000, high: 1300 },/; s/ports: 64, bw_GBps: 50, usd: 30000/ports: 64, bw_GBps: 50, watt: 900, usd: 30000/' catalogue.yaml >bands.yaml
for end in low typical high; do
    run check study.yaml --parts bands.yaml --by $end --set 'budget={usd: 100e3}'
done
run check study.yaml --parts bands.yaml --by most
for racks in 2 3; do
    run check study.yaml --parts bands.yaml --set "budget={racks: $racks}" \
        --set 'system={npu_usd: 1, npu_watt: 700, npus_per_node: 4, npus_per_rack: 16, checkpoint: {size_GB: 1}}'
done
echo "== a step within the error of the model is within, or over, at the other end of it"
for time_s in 8.2 8.3 16 30; do
    "$WEFT" check llama3.1-405b-h100 --set "budget={time_s: $time_s}" -q 2>&1 | sed -n 's/^ *\([01]\) .*  s  \([a-z].*\)$/point \1: \2/p'
done
echo "== several files, and points of one: one table, the worst exit code"
sed 's/usd: 110e3/usd: 100e3/' study.yaml >dear.yaml
printf 'vary: { network.dims.pod.size: [4, 8, 16] }\nwhere: [size >= 8]\n' | cat study.yaml - >several.yaml
run check study.yaml dear.yaml -q
run check study.yaml study.yaml -q
run check several.yaml --of csv -q | sed '/^#/d'
run check several.yaml missing.yaml study.yaml -q
run check study.yaml --set 'vary={network.dims.pod.bw_GBps: [50, -1]}' -q
run check several.yaml --set 'vary={network.dims.pod.size: {from: 2, to: 20000, step: 1}}' -q
echo "== prices of NPUs and servers, and the band of measured steps: 2,048 H100 of 25 to 40 k USD"
cat >owned.yaml <<..
network:
  npu: $ROOT/configs/npus/h100-80gb.yaml
  parts: $ROOT/configs/parts/catalogue-2026.yaml
  dims:
    - { name: node, shape: switch, size: 8, bw_GBps: 450, tier: HGX-H100 }
    - { name: rail, shape: switch, size: 256, bw_GBps: 50, tier: InterRail }
split: given
workload:
  model: $ROOT/configs/models/llama3-70b.yaml
  parallel: { tp: 8, pp: 4, dp: 64, batch: 1024, recompute: full, software: megatron }
system: { checkpoint: { store_GBps: 500 } }
budget: { usd_year: 36e6, usd_per_Mtoken: 0.75 }
..
for end in low typical high; do
    run check owned.yaml --by $end -q
done
run check owned.yaml --of csv -q --set system.npu_usd=30000 --set system.server_usd=7170 | sed '/^#/d'
run check owned.yaml -q --set 'network.parts={catalogue: [{name: n, kind: nic, ports: 1, bw_GBps: 50, usd: 1}, {name: l, kind: link, bw_GBps: 50, usd: 1}, {name: s, kind: switch, ports: 64, bw_GBps: 50, usd: 1}, {name: h, kind: product, ports: 8, bw_GBps: 450}], build: [{tier: HGX-H100, product: h}, {tier: InterRail, nic: n, switch: s, end_link: l, up_link: l}]}' --set 'budget={site_MW: 100}'
echo "== the design that weft alloc chooses, when a bandwidth is missing"
sed 's/ bw_GBps: [0-9]*,//' study.yaml >open.yaml
run check open.yaml --set total_GBps=100 --set 'budget={nic_GBps: 23, time_s: 0.003}'
run check open.yaml --set 'constraints=[nic_usd <= 0, pod >= 1]'
"$WEFT" check open.yaml --of json --set 'constraints=[pod >= 9, pod <= 8]' 2>&1 | hash
echo "== a network alone has no step, but a price"
sed '/^workload/,/^  step/d' study.yaml >network.yaml
run check network.yaml --set 'budget={usd: 110e3}'
run check network.yaml
echo "== no budget"
sed '/^budget/d' study.yaml >nobudget.yaml
run check nobudget.yaml
echo "== a graph: its nodes once, NICs only where the file can tell"
cat >graph.csv <<..
src,dst,bw_GBps,latency_ns,class,usd,src_kind,dst_kind
a,leaf0,50,500,down,1320,npu,switch
b,leaf0,50,500,down,1320,npu,switch
c,leaf1,50,500,down,1320,npu,switch
d,leaf1,50,500,down,1320,npu,switch
a,b,200,100,near,100,npu,npu
c,d,200,100,near,100,npu,npu
leaf0,leaf1,100,700,up,2640,switch,switch
..
cat >graph.yaml <<..
network: { graph: graph.csv, classes: [ { name: down, bw_GBps: 50, tier: Pod }, { name: near, bw_GBps: 200, tier: Pod }, { name: up, bw_GBps: 50, tier: Pod } ] }
workload: { step: { all-reduce: { size_MB: 100, group: all } } }
..
# 4 x 1,320 + 2 x 100 + 2,640; 50 and 200 GB/s of each NPU, of which the file does not say what is a NIC.
run check graph.yaml --set 'budget={usd: 8120, nic_GBps: 250}'
run check graph.yaml --set 'budget={nic_GBps: 249}'
run check graph.yaml --set 'budget={nics: 1000000}'
# By rates the links from NPUs to switches are NICs: 50 GB/s, two of 25 for each NPU.
sed -n '/^parts/,/tier: Pod/p' study.yaml >>graph.yaml
run check graph.yaml --set 'budget={nic_GBps: 50, nics: 8}'
run check graph.yaml --set 'budget={nic_GBps: 49, nics: 7}'
echo "== rates without a price of NICs"
sed 's/, nic_usd_per_GBps: 32//' study.yaml >nonic.yaml
run check nonic.yaml --set 'budget={nic_GBps: 1}'
run check nonic.yaml --set 'budget={nics: 1}'
echo "== what a network alone does not say is refused"
run check network.yaml --set 'network.npu={usd: 1, watt: 700}' --set 'system={checkpoint: {size_GB: 1}}' --set 'budget={site_MW: 1}'
