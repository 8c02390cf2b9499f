#!/bin/sh
# Figures of an NPU from measured operators. All numbers are made up: products at 0.6 of 1000 TFLOP/s (0.55 of 2000 in fp8) whatever
# their size, attention at 500 and 400 TFLOP/s, in the layout of some other tool.
cd "$TMPDIR" || exit 1
run() { echo "\$ weft $*"; "$WEFT" "$@" 2>&1; echo "exit $?"; }

cat >npu.yaml <<..
name: made up
peak_TFLOPS: 1000
peak_8bit_TFLOPS: 2000
mem_GBps: 4000
matrix_efficiency: 0.9
matrix_half_out: 50
watt: 700
..
{
    echo "card,kind,pass,dtype,M,N,K,heads,seq,head_dim,causal,us,rate"
    for side in 1024 4096 16384; do
        for inner in 1024 16384; do
            echo "x,gemm,fwd,bf16,$side,8192,$inner,,,,,,$((590 + side % 3000 / 50))"
            echo "x,gemm,dgrad,fp8,$side,8192,$inner,,,,,,1100"
        done
        echo "x,attention_fwd,,bf16,,,,32,$side,128,1,,500"
        echo "x,attention_bwd,,bf16,,,,32,$side,128,1,,400"
    done
    echo "x,attention_fwd_bwd,,bf16,,,,32,4096,128,1,,420"
    echo "x,allreduce,,,,,,,,,,,300"
    echo "y,gemm,fwd,bf16,4096,4096;1024,1024;4096,,,,,99,"
} >ops.csv

columns=op=kind,precision=dtype,m=M,n=N,k=K
run calibrate --npu npu.yaml ops.csv --column $columns --column time_us=us,TFLOPS=rate --where card=x --kernel fa2
run calibrate --npu npu.yaml ops.csv --column $columns,time_us=us --where card=y --of yaml
run calibrate --npu npu.yaml ops.csv --column $columns,time_us=us --where card=y --of yaml --power-W 500

echo "== what it wrote it reads again"
"$WEFT" calibrate --npu npu.yaml ops.csv --column $columns,TFLOPS=rate,time_us=us --where card=x --kernel fa2 --of yaml >first.yaml
"$WEFT" calibrate --npu npu.yaml ops.csv --column $columns,TFLOPS=rate,time_us=us --where card=x --kernel fa2 -o rows.csv
sed -n '/^[^#]/p' rows.csv | cut -d, -f1-6,9-12,17 | head -4
"$WEFT" calibrate --npu npu.yaml rows.csv --kernel fa2 --of yaml | cmp - first.yaml && echo same
{ grep -v matrix npu.yaml; cat first.yaml; echo "sms: 100"; } >fitted.yaml
run calibrate --npu fitted.yaml rows.csv --where op=fused --of json | tr ',' '\n' | sed -n '3,$p' | head -40

echo "== bad input"
run calibrate --npu npu.yaml ops.csv
run calibrate --npu npu.yaml ops.csv --column op=kindd
run calibrate --npu npu.yaml ops.csv --column oq=kind
run calibrate --npu npu.yaml ops.csv --column op
run calibrate --npu npu.yaml ops.csv --column op=kind --where card=X
run calibrate --npu npu.yaml ops.csv --column op=kind --where cart=x
run calibrate --npu npu.yaml ops.csv --column $columns,time_us=us,TFLOPS=rate --where card=x
run calibrate --npu npu.yaml ops.csv --column op=kind --where kind=allreduce
run calibrate --npu npu.yaml ops.csv --column $columns,time_us=us --where card=y --power-W 100
run calibrate --npu npu.yaml ops.csv --column $columns,time_us=us --where card=y --power-W much
run calibrate --npu npu.yaml ops.csv --kernel fa9
run calibrate ops.csv --column op=kind
run calibrate ops.csv --kernel fa2
run calibrate --npu nowhere.yaml ops.csv
run calibrate --npu npu.yaml nowhere.csv
grep -v watt npu.yaml >cool.yaml
run calibrate --npu cool.yaml ops.csv --column $columns,time_us=us --where card=y --power-W 100
