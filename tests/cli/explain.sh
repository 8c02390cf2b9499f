#!/bin/sh
# Why a step takes its time; the step is that of alloc.sh at 100 and 50 GB/s.
cd "$TMPDIR" || exit 1
run() { echo "\$ weft $*"; "$WEFT" "$@" 2>&1; echo "exit $?"; }
hash() { sed 's/"study_hash": "[0-9a-f]*"/"study_hash": "HASH"/'; }
cat >study.yaml <<..
network:
  name: small
  dims:
    - { name: node, shape: ring, size: 4, bw_GBps: 100, tier: Node }
    - { name: pod, shape: switch, size: 8, bw_GBps: 50, tier: Pod }
parts:
  rates:
    - { tier: Node, link_usd_per_GBps: 4 }
    - { tier: Pod, link_usd_per_GBps: 8, switch_usd_per_GBps: 18, nic_usd_per_GBps: 32 }
workload:
  name: toy
  groups: { inner: { members: [4, 1] } }
  layers:
    - name: block
      times: 3
      forward: { compute_ms: 1, collectives: [ { kind: all-gather, size_MB: 10, group: inner, times: 2 } ] }
      weight_grad: { compute_ms: 2, collectives: [ { kind: all-reduce, size_MB: 100, group: all } ] }
..
run explain study.yaml
run explain study.yaml --of csv -o rows.csv
sed '/^#/d' rows.csv
"$WEFT" explain study.yaml --of json | hash
echo "== bandwidths that weft alloc chooses, under a budget"
sed 's/ bw_GBps: [0-9]*,//' study.yaml >open.yaml
run explain open.yaml --set 'constraints=[usd <= 50e3]' | sed -n -e 1p -e '/^one more/,/^$/p'
run explain open.yaml --set 'constraints=[usd <= 0]'
echo "== collectives that overlap on one dimension share it"
overlap='workload={name: two, step: {max: [{all-reduce: {size_MB: 10, group: all}}, {all-reduce: {size_MB: 10, group: all}}]}}'
run explain study.yaml --set "$overlap"
echo "== nothing to wait for; queues by flow; several chunks at once"
run explain study.yaml --set 'workload={name: alone, step: {compute_ms: 3}}'
run explain study.yaml --set "$overlap" --set model=flow --of json -q | hash
run explain study.yaml --set "$overlap" --set model=chunk --set simulation.active_chunks=2 -q
echo "== by hand: 3 steps of 4 x 150 MB at 80 % of 100 GB/s take 22.5 ms; each all-reduce has 4 chunks of 6 hops of 1 us"
cat >often.yaml <<..
network: { dims: [ { name: node, shape: ring, size: 4, bw_GBps: 100, efficiency: 0.8, latency_ns: 1000 } ] }
model: alpha-beta
workloads:
  - weight: 3
    workload:
      name: often
      layers:
        - name: block
          times: 2
          forward: { collectives: [ { kind: all-reduce, size_MB: 100, group: all } ] }
          weight_grad: { collectives: [ { kind: all-reduce, size_MB: 100, group: all } ] }
  - { workload: { name: alone, step: { compute_ms: 2 } } }
..
run explain often.yaml
echo "== where nothing is sent, compute alone is all of the step, optimizer and host included"
cat >free.yaml <<..
network:
  npu: { peak_TFLOPS: 100, mem_GB: 80, mem_GBps: 2000 }
  dims: [ { name: node, shape: ring, size: 8, bw_GBps: 50 } ]
workload:
  traffic: 0
  model: { layers: 4, hidden: 1024, heads: 8, seq: 1024, vocab: 32000 }
  parallel: { batch: 64, step_overhead_s: 0.1 }
..
run explain free.yaml | grep 'compute alone'
echo "== what is left by rounding is no latency"
cat >rounding.yaml <<..
network: { dims: [ { shape: ring, size: 5, bw_GBps: 13, latency_ns: 0 } ] }
model: flow
simulation: { chunks: 7 }
workload: { step: { sum: [ { all-to-all: { size_MB: 16.3, group: all } }, { all-reduce: { size_MB: 11.3, group: all } } ] } }
..
run explain rounding.yaml | grep -c 'e-1[0-9]' || :

echo "== routes: the share of bytes that goes by two ways, in all models"
cat >routes.yaml <<'..'
network: "dragonfly:2x4x9^2@50"
workload:
  groups: { next: { members: [ 1, 1, 9 ] } }
  step: { sum: [ { send: { size_MB: 100, group: next } }, { all-reduce: { size_MB: 100, group: all } } ] }
..
run explain routes.yaml | grep valiant
for model in bandwidth alpha-beta flow; do
    run sim routes.yaml --set model=$model | sed -n '/^dimension/,/^$/p'
    "$WEFT" sim routes.yaml --set model=$model --of json -o - | grep -o '"valiant": [^]]*]'
done
run sim routes.yaml --set 'network=dragonfly:2x4x9^2+minimal@50' | grep -c valiant || :
sed -i 's/^network:.*/&\nvary: { network: [ "dragonfly:2x4x9^2@50", "dragonfly:2x4x9^2+minimal@50" ] }\nsplit: given/' routes.yaml
for command in "sim" "alloc" "sweep" "sim --set network=dragonfly:2x4x9^2+minimal@50"; do
    echo "$command"
    # shellcheck disable=SC2086 # a command and its options
    "$WEFT" $command routes.yaml --set model=alpha-beta -q --of csv -o - 2>&1 | sed '/^#/d' |
        awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) if ($i ~ /^network$|^valiant/) at[n++] = i }
                 { for (i = 0; i < n; i++) printf "%s%s", $at[i], i < n - 1 ? " " : "\n" }'
done
