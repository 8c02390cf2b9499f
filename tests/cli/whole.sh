#!/bin/sh
# Whole parts: 128 nodes of 8, a fixed bandwidth inside, NICs of 50 GB/s on rails and on a spine to choose. By hand, 1,024 NPUs:
# a second NIC on the spine is a second Clos, 5,967,360 USD more.
configs=$PWD/configs
cd "$TMPDIR" || exit 1
run() { { echo "\$ weft $*"; "$WEFT" "$@" 2>&1; } | sed "s,$configs,configs,g"; }
hash() { sed 's/"study_hash": "[0-9a-f]*"/"study_hash": "HASH"/'; }
cat >study.yaml <<..
network:
  name: pods
  dims:
    - { name: node, shape: switch, size: 8, bw_GBps: 450, tier: InterPackage }
    - { name: rail, shape: switch, size: 32, tier: InterRail }
    - { name: spine, shape: switch, size: 4, tier: InterPod }
parts: $configs/parts/catalogue-2026.yaml
workload: $configs/workloads/gpt3.yaml
constraints: [ usd <= 30e6 ]
..
run alloc study.yaml
"$WEFT" alloc study.yaml --of json | hash
run alloc study.yaml --set pricing=fraction
"$WEFT" alloc study.yaml --set pricing=fraction --set 'system={npu_usd: 1, npu_watt: 1, checkpoint: {size_GB: 1}}' 2>/dev/null | grep '^  in whole'
run alloc study.yaml --set objective=cost --set time_limit_s=0.725 | sed -n '/^dim/,/^time/p; /^cost/,/^one/p'
run alloc study.yaml --set model=chunk --set simulation.chunks=2 | sed -n '/^proof/,/^one/p'
run alloc study.yaml --set network.dims.rail.planes=2 | sed -n '/^dim/,/^time/p'
echo "== rows say what is bought, and what the same takes in fractions"
run sweep study.yaml --set 'vary={pricing: [whole, fraction], total_GBps: [550, 575, 650]}' --set 'constraints=[]' -q --of csv -o rows.csv -f
sed '/^#/d' rows.csv | cut -d, -f2,8-10,13,14
run front rows.csv
echo "== what is pruned is not on the front"
cat >totals.yaml <<..
$(sed '/^constraints/d; s/bw_GBps: 450, //' study.yaml)
vary:
  total_GBps: { from: 300, to: 1500, step: 60 }
  network.dims.node.shape: [ ring, full, switch ]
  network.dims.rail.shape: [ ring, full, switch ]
  objective: [ time, perf_per_cost ]
..
for prune in false true; do
    "$WEFT" sweep totals.yaml -q --set "keep={front: [time_s, cost_usd], prune: $prune}" --of csv -o $prune.csv 2>&1 | sed -n 1p
    sed '/^#/d' $prune.csv >$prune.rows
done
cmp false.rows true.rows && echo "the same rows"
echo "== given bandwidths cost what carries them"
run sweep study.yaml --set split=given --set 'constraints=[usd <= 20e6]' --set network.dims.spine.bw_GBps=25 --set 'vary={network.dims.rail.bw_GBps: [25, 30, 50, 60]}' -q --of csv -o rows.csv -f
sed '/^#/d' rows.csv | cut -d, -f2,8-10,13-15
run check study.yaml --set 'budget={usd: 20892160}'
run check study.yaml --set 'budget={usd: 20892159}'
echo "== what whole parts cannot do"
run alloc study.yaml --set network.dims.rail.bw_GBps=60
run alloc study.yaml --set 'constraints=[usd <= 10e6]'
run alloc study.yaml --set 'constraints=[]'
run alloc study.yaml --set 'constraints=[]' --set total_GBps=540
run alloc study.yaml --parts "$configs/parts/libra-2024.yaml" --set network.dims.rail.tier=InterPod --set pricing=whole
run alloc study.yaml --set pricing=parts
run alloc study.yaml --set 'constraints=[usd <= 30e6, watt <= 1e6]'
echo "== parts that cost nothing: no design is below the bound of 0"
cat >free.yaml <<..
network: { dims: [ { name: node, shape: ring, size: 4, tier: N }, { name: pod, shape: switch, size: 8, tier: P } ] }
parts:
  catalogue:
    - { name: nic, kind: nic, ports: 1, bw_GBps: 50, usd: 0 }
    - { name: box, kind: switch, ports: 64, bw_GBps: 50, usd: 0 }
    - { name: wire, kind: link, bw_GBps: 50, usd: 0 }
  build: [ { tier: N, end_link: wire }, { tier: P, nic: nic, switch: box, end_link: wire } ]
workload: { step: { all-reduce: { size_MB: 16, group: all } } }
total_GBps: 150
objective: cost
time_limit_s: 1
..
run alloc free.yaml | sed -n '1p; /^proof/,/^constraints/p'
echo "== plans and parts together: the plan that is best in fractions need not be the one to buy for"
cat >plans.yaml <<..
network:
  npu: $configs/npus/h100-80gb.yaml
  dims:
    - { name: node, shape: switch, size: 8, bw_GBps: 450, tier: InterPackage }
    - { name: rail, shape: switch, size: 16, tier: InterRail }
    - { name: spine, shape: switch, size: 4, tier: InterPod }
parts: $configs/parts/catalogue-2026.yaml
workload:
  model: $configs/models/gpt3-175b.yaml
  parallel: { batch: 1024 }
  search: { top: 6, cp: [1], interleave: [1], zero: [1, 3] }
..
run alloc plans.yaml --set 'constraints=[usd <= 30e6]' | sed -n '/^dim/,/^time/p; /^proof/,/^one/p; /^searched/,$p'
run alloc plans.yaml --set 'constraints=[usd <= 9e6]' | sed -n '/^proof/,/^one/p; /^GPT/p'
echo "== algorithms that depend on the split, plans compared at one: unproved, without gap and bound"
set -- plans.yaml --set 'constraints=[usd <= 30e6]' --set pricing=fraction --set model=alpha-beta --set network.dims.rail.algorithm=auto
run alloc "$@" | grep -E '^(time|proof)'
run alloc "$@" --of json | grep -oE '"(status|objective_value|lower_bound|gap|verified|unique)": [^,]*' | head -6
run alloc "$@" --of csv | grep '^0,' | cut -d, -f8,19,20
run alloc "$@" >/dev/null && echo "exit status 0"
echo "== power of what is bought"
sed 's/, bw_GBps: 450, tier: InterPackage/, tier: InterPod/' study.yaml >pods.yaml
run alloc pods.yaml --set 'constraints=[watt <= 350e3, node <= 200]' | sed -n '/^dim/,/^time/p; /^constraints/,$p'
