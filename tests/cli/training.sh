#!/bin/sh
# A model trained on a small network: the report, its data, plans that cannot be, and a search.
# shellcheck disable=SC2086 # a list of options
configs=$PWD/configs
cd "$TMPDIR" || exit 1
run() { echo "\$ weft $*"; "$WEFT" "$@" 2>&1; echo "exit $?"; }
hash() { sed 's/"study_hash": "[0-9a-f]*"/"study_hash": "HASH"/'; }
cat >study.yaml <<..
network:
  name: small
  npu: { peak_TFLOPS: 100, mem_GB: 8, mem_GBps: 1000, matrix_efficiency: 0.8, matrix_half_out: 128, kernel_ns: 4000 }
  dims:
    - { name: node, shape: ring, size: 4, bw_GBps: 100, latency_ns: 1000 }
    - { name: pod, shape: switch, size: 16, bw_GBps: 12.5, latency_ns: 5000 }
model: alpha-beta
workload:
  name: small GPT
  model: model.yaml
  parallel: { tp: 4, pp: 4, batch: 64, recompute: selective, seq_parallel: true, zero: 1 }
..
cat >model.yaml <<..
layers: 16
hidden: 2048
heads: 16
vocab: 32000
seq: 2048
attention: unfused
tied: true
biases: true
dropout: true
..
run sim study.yaml
"$WEFT" sim study.yaml --of json -q | hash
run sim study.yaml --of csv -q -o sim.csv
sed '/^#/d' sim.csv
echo "== plans that cannot be"
P=workload.parallel
bad() { "$WEFT" sim study.yaml --set "$P.$1" --set "$P.${2:-grad_B=4}" 2>&1 >out | sed 's/^[^:]*: //'; }
for set in tp=3 tp=32 pp=3 dp=5 pp=32 batch=66 micro_batch=3 interleave=3 ep=2 cp=3 'order=[tp,dp]' zero=4; do
    bad "$set"
done
bad schedule=gpipe interleave=2
for set in precision=fp8 precision=fp16 attention_kernel=fa4 attention_precision=fp8 graph=step offload=0.5 gather_bits=12 \
    'recompute_ops=[gelu]' elementwise=0 jitter=2; do
    bad "$set"
done
bad 'recompute_ops=[shared]' recompute=selective
bad zero=0 gather_bits=8
echo "== what it runs in and on"
"$WEFT" sim study.yaml --set $P.software=eager --set $P.attention_kernel=fa2 --set "$P.recompute_ops=[norm, mlp]" --set $P.mem_margin=0.05 \
    --set $P.jitter=0.004 --set $P.graph=attention 2>&1
# Attention at the peak, of which MFU counts what is masked too: possible. At twice the peak: not.
ideal="--set workload.model.attention=flash --set workload.model.seq=32768 --set network.npu.matrix_efficiency=1 --set network.npu.matrix_half_out=0
    --set network.npu.mem_GBps=1e6 --set network.npu.mem_GB=80 --set network.npu.kernel_ns=0"
"$WEFT" sim study.yaml $ideal --set network.npu.flash_efficiency=1 2>&1 | grep -e utilisation -e weft
peak=$(sed -n 's/.*peak_TFLOPS: \([0-9]*\).*/\1/p' study.yaml)
"$WEFT" sim study.yaml $ideal --set "network.npu.attention_kernels=[{kernel: fa2, forward_TFLOPS: $((2 * peak)), backward_TFLOPS: $((2 * peak))}]" 2>&1 |
    grep -e utilisation -e weft
run sim study.yaml --set network.npu.mem_GB=1 -q -o out -f
run sim study.yaml --set 'network.npu={}' -q
echo "== a search"
run sim study.yaml --search parallelism --set 'workload.search={top: 3, tp: [1, 2, 4], cp: [1]}'
run sim study.yaml --search parallelism --set network.npu.mem_GB=0.01
run sim study.yaml --set 'workload.search={tp: [3]}'
echo "== keys that a search makes idle: those of --set, and of a study that has the search itself"
run sim study.yaml --search parallelism --set $P.tp=3 --set $P.dp=5 --set workload.search.top=1 | grep warning
run sim study.yaml --set $P.tp=3 --set 'workload.search={tp: [4], top: 1}' | grep -e warning -e '^1 '
sed 's/^  model: model.yaml/&\n  search: { top: 1, zero: [1] }/' study.yaml >searched.yaml
run sim searched.yaml | grep warning
run sweep searched.yaml --set 'vary={workload.parallel.batch: [16, 64]}' --of csv -o searched.csv | grep warning
run sim study.yaml --set 'workload.search={precision: [bf16, mxfp8]}'
S='tp: [4], pp: [4], cp: [1], micro_batch: [1], interleave: [1], zero: [1], seq_parallel: [true], schedule: [1f1b], order: given, top: 9'
"$WEFT" sim study.yaml --set workload.parallel.software=megatron --set network.npu.peak_8bit_TFLOPS=200 \
    --set "workload.search={$S, precision: [bf16, fp8], recompute: [selective], recompute_ops: [norm, mla_up, mlp]}" 2>&1 | sed -n '/^searched/,$p'
echo "== the plan that was found, run as it is printed in JSON and in text"
step() { sed 's/.*"step": {"time_s": \([^,]*\),.*/\1/'; }
for more in '{}' '{precision: [bf16, fp8], recompute: [selective], recompute_ops: [norm, mlp]}' '{pp: [8, 16], interleave: [1, 2], zero: [3]}'; do
    set -- study.yaml -q --set network.npu.peak_8bit_TFLOPS=200 --set workload.model.layers=30 --set model=bandwidth
    p='software: megatron, gather_bits: 16, precision: fp8, overlap_tp: split, overlap_pp: true, grad_B: 2, launch_us: 0.3'
    "$WEFT" sim "$@" --set "workload.parallel={batch: 64, $p}" --set "workload.search=$more" --of json >found.json
    "$WEFT" sim "$@" --set "workload.parallel={batch: 64, $p}" --set "workload.search=$more" >found.txt
    line=$(sed -n 's/^parallel: //p' found.txt)
    echo "$line"
    "$WEFT" sim "$@" --of json --set "workload.parallel=$(sed 's/"microbatches".*//; s/.*"plan": \(.*\), $/\1/' found.json)" | step >json.s
    "$WEFT" sim "$@" --of json --set "workload.parallel=$line" | step >text.s
    step <found.json | cmp - json.s && step <found.json | cmp - text.s && echo same
done
"$WEFT" sweep study.yaml -q --set model=bandwidth --set 'workload.search={cp: [1], pp: [1, 2, 4]}' --set 'vary={workload.parallel.batch: [16, 64]}' --of json |
    sed -n 's/.*"time_s": \([^,]*\),.*"parallel": "\(.*\)", "message.*/\1 \2/p' >rows.txt
while read -r seconds line; do
    echo "$line"
    "$WEFT" sim study.yaml --of json -q --set model=bandwidth --set "workload.parallel=$line" | step | awk -v want="$seconds" '{ print $1 / want - 1 < 1e-13 && 1 - $1 / want < 1e-13 ? "same" : $1 " in place of " want }'
done <rows.txt
echo "== all that a plan says, on what steps were measured on"
cat >preset.yaml <<..
network: $configs/networks/hgx-h100.yaml
model: alpha-beta
workload:
  name: experts
  model: { layers: 8, hidden: 4096, heads: 32, seq: 4096, vocab: 32000, moe: { experts: 8, top_k: 2, ffn: 2048 } }
  parallel: { tp: 1, ep: 8, batch: 1024, software: megatron, precision: fp8, attention_precision: fp8, attention_kernel: fa3,
    dispatcher: merged, dispatch_bits: 8, node_limit: 1, recompute: none }
..
"$WEFT" sim preset.yaml -q
"$WEFT" sim preset.yaml --of json -q | hash
"$WEFT" sim preset.yaml --set 'workload.model={layers: 8, hidden: 4096, heads: 32, seq: 4096, vocab: 32000}' --set 'workload.parallel={tp: 8, batch: 64, software: eager, offload: 0.3, zero: 1}' 2>&1 | tail -25
"$WEFT" sim preset.yaml --set 'workload.model={layers: 8, hidden: 4096, heads: 32, seq: 4096, vocab: 32000}' --set 'workload.parallel={tp: 8, batch: 64, software: eager, offload: 0.3, zero: 1}' --of json -q 2>&1 | hash

echo "== tight: what is left is less than the 5 % that PyTorch reserves; counted by mem_margin, and XLA has no such allocator"
cat >tight.yaml <<..
network: { npu: { peak_TFLOPS: 1000, mem_GB: 71, mem_GBps: 4000 }, dims: [ { name: node, shape: switch, size: 8, bw_GBps: 450 } ] }
model: alpha-beta
workload: { name: s, model: $configs/models/llama3-8b.yaml, parallel: { batch: 64, zero: 1, software: megatron, recompute: full } }
..
for more in network.npu.mem_GB=71 network.npu.mem_GB=73 workload.parallel.mem_margin=0.03 workload.parallel.software=maxtext; do
    echo "$more: $("$WEFT" sim tight.yaml -q --set "$more" | grep " GB: ")"
done
echo "== a search leaves these 5 %, unless mem_margin says what is reserved"
for margin in "" "mem_margin: 0, "; do
    "$WEFT" sim tight.yaml -q --set network.npu.mem_GB=71 --set "workload.parallel={ $margin batch: 64, software: megatron }" \
        --set "workload.search={ tp: [1], cp: [1], pp: [1], zero: [1], recompute: [full], micro_batch: [1] }" 2>&1 | grep " GB: \|finds no plan" | cut -c1-150
done
