#!/bin/sh
# The best points of a study: those that a sweep's rows have, with the proof and what ruled out the others.
cd "$TMPDIR" || exit 1
run() { echo "\$ weft $*"; "$WEFT" "$@" >out.txt 2>&1; code=$?; sed 's/study_hash=.*/study_hash=HASH/' out.txt; rm out.txt; echo "exit $code"; }
cat >large.yaml <<..
peak_TFLOPS: 3
mem_GBps: 200
mem_GB: 0.1
watt: 700
..
cat >small.yaml <<..
peak_TFLOPS: 1
mem_GBps: 100
mem_GB: 0.02
watt: 400
..
cat >rates.yaml <<..
name: rates
rates:
  - { tier: A, link_usd_per_GBps: 4 }
  - { tier: B, link_usd_per_GBps: 8, switch_usd_per_GBps: 18, nic_usd_per_GBps: 32 }
..
cat >study.yaml <<..
name: machines
network:
  npu: small.yaml
  dims:
    - { name: node, shape: ring, size: 4, tier: A, latency_ns: 100, bw_GBps: 20 }
    - { name: pod, shape: switch, size: 4, tier: B, latency_ns: 500, bw_GBps: 5 }
parts: rates.yaml
model: alpha-beta
split: given
workload:
  name: w
  model: { layers: 4, hidden: 128, heads: 4, vocab: 512, seq: 64 }
  parallel: { batch: 48 }
  search: {}
system: { npu_usd: 1500, npus_per_node: 4 }
vary:
  zip:
    network.npu: [small.yaml, large.yaml]
    system.npu_usd: [1500, 4000]
  network.dims.pod.size: [2, 4, 8]
  workload.parallel.batch: [16, 48]
  network.dims.pod.bw_GBps: [1, 2, 5, 10]
..
cat >split.yaml <<..
network: "ring:4 switch:8"
workload:
  name: toy
  step: { sum: [ { compute_ms: 1 }, { all-reduce: { size_MB: 100, group: all } } ] }
vary:
  total_GBps: [100, 200, 300]
  model: [bandwidth]
..
run best study.yaml
run best study.yaml --by usd_per_Mtoken --top 1 --limit 'watt_peak <= 9000' --limit 'time_s <= 0.02'
run best study.yaml --by 'time_s*watt_peak' --top 2
run best study.yaml --by max:tokens_per_s --top 1
echo "== the rows of a sweep"
"$WEFT" sweep study.yaml --set 'keep={top: {n: 4, by: usd_per_Mtoken}}' --of csv 2>/dev/null | grep -v '^#' | sort >sweep.csv
"$WEFT" best study.yaml --by usd_per_Mtoken --top 4 --of csv 2>/dev/null | grep -v '^#' | sort | cmp - sweep.csv && wc -l <sweep.csv
"$WEFT" best study.yaml --of json -j 1 2>/dev/null >one.json && "$WEFT" best study.yaml --of json -j 5 2>/dev/null >five.json
sed -e 's/ -j [15]//' one.json | cmp - five.json && echo "the number of threads changes nothing"
echo "== what is held apart"
run best study.yaml --by usd_per_Mtoken --per workload.parallel.batch --top 1 --set network.dims.pod.bw_GBps=5
run best study.yaml --by time_s --per workload.parallel.batch,network.npu --limit 'time_s <= 0.0002' --limit 'cost_usd <= 1e4' --set 'network.dims.pod.size=2'
both() { # rows of both commands, and of how many parts
    "$WEFT" sweep "$1" --set "keep={top: {n: 2, by: $2}, per: [$3]}" --of csv 2>/dev/null | grep -v '^#' | sort >sweep.csv
    "$WEFT" best "$1" --by "$2" --top 2 --per "$(echo "$3" | tr -d ' ')" --of csv 2>err.txt | grep -v '^#' | sort | cmp - sweep.csv && wc -l <sweep.csv
    grep -c 'proved: ' err.txt
}
cat >grids.yaml <<..
vary:
  zip:
    network.npu: [small.yaml, large.yaml]
    system.npu_usd: [1500, 4000]
  union:
    - { network.dims.pod.size: [2, 4], workload.parallel.batch: [16, 48] }
    - { network.dims.pod.size: [8], network.dims.pod.bw_GBps: [1, 2], workload.parallel.batch: [48] }
..
sed '/^vary:/,$d' study.yaml | cat - grids.yaml >union.yaml
both union.yaml max:tokens_per_s 'workload.parallel.batch, network.dims.pod.bw_GBps'
for key in network.npu workload.parallel.batch; do # with one fixed none is better
    "$WEFT" best study.yaml -j 1 --set network.dims.pod.bw_GBps=10 --per "$key" --top 1 -q --of csv 2>/dev/null | awk -F, -v key="$key" '/^#/ { next }
        !col { for (i = 1; i <= NF; i++) if ($i == "tokens_per_s") col = i; next } { n++; best = $col > best ? $col : best } END { printf "%s: %d parts, best %.7g\n", key, n, best }'
done
run best study.yaml --per cost_usd
run best study.yaml --per nope
"$WEFT" best study.yaml --top 1 --per '' --by time_s --limit 'cost_usd <= 2000' 2>&1 | grep -v '^ \|^point\|^$'
"$WEFT" best study.yaml --by usd_per_Mtoken --set network.dims.pod.bw_GBps=5 --set 'keep={top: {n: 1, by: usd_per_Mtoken}, per: [network.npu]}' 2>/dev/null | grep proved
"$WEFT" best split.yaml --per seed --set 'vary={seed: {from: 1, to: 2000, step: 1}}' 2>&1
"$WEFT" sweep study.yaml --set network.dims.pod.bw_GBps=5 --set 'keep={top: {n: 1, by: time_s}}' 2>&1 | head -2
echo "== of equals the cheapest"
run best study.yaml --by time_s --top 2 --set 'vary={system.npu_usd: [1500, 4000, 900], network.dims.pod.size: [8]}'
run best study.yaml --by time_s --top 1 --ties 1 -q --set 'vary={system.npu_usd: [1500, 4000, 900], network.dims.pod.size: [8]}'
echo "== the front"
run best study.yaml --by time_s,cost_usd
run best study.yaml --set 'keep={front: [usd_per_Mtoken, max:tokens_per_s, watt_peak], per: [network.npu], where: ["watt_peak <= 20000"]}'
front='keep={front: [time_s, usd_year, min:nic_GBps], where: ["goodput >= 0.5"]}'
of_both() { # the same bytes, of how many parts
    "$WEFT" sweep "$1" --set "$2" --of csv 2>/dev/null | grep -v '^#' >sweep.csv
    "$WEFT" best "$1" --set "$2" --of csv 2>err.txt | grep -v '^#' | cmp - sweep.csv && wc -l <sweep.csv
    grep -c 'proved: ' err.txt
}
of_both study.yaml "$front"
of_both union.yaml 'keep={front: [time_s, usd_year], per: [workload.parallel.batch, objective, network.npu]}'
one() { echo "[{ workload: { name: $1, model: { layers: 4, hidden: $2, heads: 4, vocab: 512, seq: 64 }, parallel: { batch: 16 } } }]"; }
sed "/^workload:/,/^  search/d; /^vary:/,\$d; s/small/large/" study.yaml >works.yaml
echo "vary: { workloads: [$(one a 128), $(one b 256)], network.dims.pod.bw_GBps: [1, 2, 5] }" >>works.yaml
of_both works.yaml 'keep={front: [time_s, cost_usd]}'
both works.yaml time_s workload
"$WEFT" best study.yaml --by time_s,cost_usd --of json -j 1 2>/dev/null >one.json && "$WEFT" best study.yaml --by time_s,cost_usd --of json -j 5 2>/dev/null >five.json
sed -e 's/ -j [15]//' one.json | cmp - five.json && echo "the number of threads changes nothing"
echo "== what if"
run best study.yaml --by usd_per_Mtoken --what-if -j 1 --set 'vary={zip: {network.npu: [small.yaml, large.yaml], system.npu_usd: [1500, 4000]}, network.dims.pod.size: [2, 4]}'
run best study.yaml --by time_s --what-if -j 1 --top 2 --set 'vary={network.npu: [small.yaml, large.yaml], network.dims.pod.bw_GBps: [1, 5]}' --set 'uncertain={draws: 200, keys: {network.npu.peak_TFLOPS: {uniform: [0.5, 1.5], relative: true}}}'
echo "== a mix"
sed '/^workload:/,/^  search/d' study.yaml | sed 's/workload.parallel.batch/workloads[0].workload.parallel.batch/' >mix.yaml
cat >>mix.yaml <<..
workloads:
  - workload: { name: a, model: { layers: 4, hidden: 128, heads: 4, vocab: 512, seq: 64 }, parallel: { batch: 48 }, search: {} }
  - workload: { name: b, model: { layers: 4, hidden: 256, heads: 4, vocab: 512, seq: 64 }, parallel: { batch: 16 }, search: {} }
    weight: 2
..
run best mix.yaml --by max:tokens_per_s --top 2 --limit 'watt_site <= 20000'
for axis in zip.network.npu=large.yaml network.dims.pod.size=4 network.dims.pod.bw_GBps=2 'workloads[0].workload.parallel.batch=16'; do
    "$WEFT" best mix.yaml --by max:tokens_per_s --top 1 --limit 'watt_site <= 20000' -q --of csv --set "${axis#zip.}" 2>/dev/null |
        awk -F, -v axis="$axis" '/^#/ { next } !col { for (i = 1; i <= NF; i++) if ($i == "tokens_per_s") col = i; next } { printf "%s: %.6g\n", axis, $col }'
done
"$WEFT" sweep mix.yaml --set 'keep={top: {n: 1, by: max:tokens_per_s}}' --set 'vary={workloads[0].workload.parallel.batch: [16, 48]}' 2>&1 | grep kept
echo "== bandwidths are split"
run best split.yaml
run best split.yaml --by nic_GBps
sed '/^vary:/,$d' split.yaml >one.yaml
run best one.yaml -q --set total_GBps=100
sed '/^vary:/,$d' study.yaml >one.yaml # searched
run best one.yaml -q --limit 'time_s <= 0.0002'
echo "== what cannot be"
run best study.yaml --limit 'watt_peak <= 1000' --limit 'time_s <= 1'
"$WEFT" best study.yaml --set 'vary={network.dims.pod.size: [2, 4]}' --limit 'cost_usd <= 1e15' --set 'keep={where: ["time_s <= 1"]}' 2>&1 | grep further
run best study.yaml --set network.npu.mem_GB=0.00001
"$WEFT" best works.yaml --set network.npu.mem_GB=0.001 --per '' 2>&1 | grep 'without a design'
run best study.yaml --by nope
run best study.yaml --by 'max:time_s*cost_usd'
run best study.yaml --by time_s*time_s*time_s
run best study.yaml --limit 'watts <= 1'
run best study.yaml --by time_s,
run best study.yaml --by time_s,min:time_s
run best study.yaml --by time_s,cost_usd,watt_peak,usd_year,mfu,goodput
run best study.yaml --by time_s,cost_usd --top 3
run best study.yaml --by time_s,cost_usd --ties 3
run best study.yaml --by time_s,cost_usd --what-if
run best study.yaml --by time_s,cost_usd --limit 'watt_peak <= 1000'
run best study.yaml --set 'vary={total_GBps: []}'
run best split.yaml --set objective=utilization
run best split.yaml --set 'vary={objective: [time, cost]}'
run best split.yaml --by usd_per_Mtoken
run best split.yaml --by max:tokens_per_s
run best split.yaml --by cost_usd
run best split.yaml --limit 'usd_year <= 5'
run best study.yaml --set 'vary={network.dims.pod.size: {from: 2, to: 8, step: 0}}'
run best study.yaml --set 'vary={network.dims.pod.size: []}'
grep -v watt small.yaml >dark.yaml
run best study.yaml --by watt_peak --set 'vary={network.npu: [dark.yaml], network.dims.pod.size: [2, 4]}'
run best study.yaml --by cost_usd --set 'vary={network.dims.pod.tier: [A], network.dims.pod.size: [2, 4]}'
run best missing.yaml
run best
echo "== the same of weft sweep and weft alloc"
run sweep study.yaml --set network.dims.pod.bw_GBps=5 --set 'keep={top: {n: 1, by: usd_per_Mtoken}, where: ["watt_peak <= 1000", "time_s <= 1"]}'
run sweep split.yaml --set 'keep={top: {n: 1, by: cost_usd}}'
run sweep split.yaml --set 'keep={where: ["cost_usd <= 5"]}'
run sweep split.yaml --set 'keep={where: ["time_s <= 1", "time_s <= 0.002"]}' --of csv -o rows.csv
run alloc split.yaml --set objective=cost
run alloc split.yaml --set 'vary={total_GBps: []}'
run alloc split.yaml --set 'vary={total_GBps: {from: 2, to: 8, step: 0}}'
sed '/^vary:/,$d' split.yaml >one.yaml
"$WEFT" alloc one.yaml --set total_GBps=100 --set 'constraints=["dim1 <= 100", "dim1 <= 99", "dim2 >= 0"]' 2>&1 | grep 'no effect'
echo "== an end that is asked for"
"$WEFT" best split.yaml --by nic_GBps --set 'vary={seed: {from: 1, to: 200000, step: 1}}' --set total_GBps=100 >out.txt 2>&1 &
pid=$!
sleep 2
kill -TERM $pid
wait $pid
echo "exit $?"
grep -c 'interrupted, nothing was found so far' out.txt
