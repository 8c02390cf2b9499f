#!/bin/sh
# One figure of an NPU from a user's own measured steps, and its band. The steps are weft's own at 0.6 of the peak, moved by 5 % either
# way: so the figure is known, and so is the band: e to the 2.92 (Student's, two degrees of freedom) x ln 1.05 x sqrt(4/3) is 1.179.
cd "$TMPDIR" || exit 1
code() { echo "\$ weft $*"; "$WEFT" "$@" 2>&1; echo "exit $?"; }

cat >npu.yaml <<..
# A made-up NPU.
name: made up
peak_TFLOPS: 1000
mem_GB: 400
mem_GBps: 4000
matrix_efficiency: 0.9
flash_efficiency: 0.3
mem_efficiency: 0.8
..
study() {
    echo "network: { npu: npu.yaml, dims: [ { name: node, shape: switch, size: 8, bw_GBps: 450 } ] }"
    echo "model: alpha-beta"
    echo "workload: { name: s, model: llama3-8b, parallel: { batch: 64, zero: 1, software: megatron, $1 } }"
}
study "micro_batch: 1" >a.yaml
study "micro_batch: 2, recompute: full" >b.yaml
study "tp: 2, seq_parallel: true" >c.yaml
timed() { "$WEFT" sim "$1" -q --set network.npu.matrix_efficiency=0.6 --of json | sed -n 's/.*"model": "alpha-beta", "time_s": \([0-9.e+-]*\),.*/\1/p'; }
{
    echo "study,step_s"
    echo "a.yaml,$(timed a.yaml | awk '{ printf "%.6f", $1 / 1.05 }')"
    echo "b.yaml,$(timed b.yaml | awk '{ printf "%.6f", $1 }')"
    echo "c.yaml,$(timed c.yaml | awk '{ printf "%.6f", $1 * 1.05 }')"
} >steps.csv
code calibrate --npu npu.yaml steps.csv
code calibrate --npu npu.yaml steps.csv -o own.yaml
code calibrate --npu npu.yaml steps.csv --of csv
echo "== predictions on it have its band, those of another precision no narrower one"
said() { "$WEFT" sim a.yaml -q --set network.npu=own.yaml "$@" 2>&1 | grep -e evidence -e weft; }
said
said --set network.npu.step_band_precision=fp8
said --set network.npu.step_band=0.001
code calibrate --npu own.yaml steps.csv -q | grep -c step_band
"$WEFT" calibrate --npu h100-80gb steps.csv -q | grep '^server' # by name: the file may lie anywhere

echo "== one step: any figure fits, the band is assumed"
head -2 steps.csv >one.csv
code calibrate --npu npu.yaml one.csv

echo "== wrong"
bad() {
    printf '%b' "study,step_s\n$1\n" >bad.csv
    code calibrate --npu npu.yaml bad.csv
}
printf 'study,step_s\n' >bad.csv
code calibrate --npu npu.yaml bad.csv
bad "nosuch.yaml,3"
bad "a.yaml,fast"
bad "a.yaml,0"
bad "a.yaml,0.001"
study "micro_batch: 1" | sed 's/parallel:/search: {}, parallel:/' >searched.yaml
bad "searched.yaml,3"
echo "{ name: in braces, peak_TFLOPS: 1000, mem_GB: 400, mem_GBps: 4000 }" >braces.yaml
code calibrate --npu braces.yaml steps.csv -o braces_own.yaml
[ -e braces_own.yaml ] || echo "nothing is left behind"
