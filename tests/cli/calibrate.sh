#!/bin/sh
# A dimension from measured collectives. All numbers are made up: an all-reduce among 4 ranks whose times are the
# lesser of 10 us + S 1.5/10 GB/s and 40 us + S 1.5/100 GB/s, as each version of nccl-tests prints them.
cd "$TMPDIR" || exit 1
run() { echo "\$ weft $*"; "$WEFT" "$@" 2>&1; echo "exit $?"; }
# fitted FILE [OPTIONS]: the dimension alone, without the comments before it.
fitted() { echo "\$ weft calibrate $*"; "$WEFT" calibrate "$@" --of yaml 2>&1 | sed '/^#/d'; }

ranks() {
    for r in 0 1 2 3; do
        echo "#  Rank  $r Group  0 Pid   1234 on       host device  $r [0000:1$r:00] Made-up GPU"
    done
}

# rows FORMAT: awk printf of size, count, time [us], algbw, busbw, four times over.
rows() {
    awk -v format="$1" 'BEGIN {
        for (k = 0; k < 14; k++) {
            s = 4096 * 4 ^ k
            if (s > 5e9) break
            a = 10 + s * 1.5e-4
            b = 40 + s * 1.5e-5
            t = a < b ? a : b
            alg = s / t / 1e3
            line = format
            gsub(/SIZE/, sprintf("%.0f", s), line)
            gsub(/COUNT/, sprintf("%.0f", s / 4), line)
            gsub(/MS/, sprintf("%.3f", t / 1e3), line)
            gsub(/TIME/, sprintf(t < 1e5 ? "%.2f" : t < 1e6 ? "%.1f" : "%.0f", t), line)
            gsub(/ALG/, sprintf("%.2f", alg), line)
            gsub(/BUS/, sprintf("%.2f", alg * 1.5), line)
            print line
        }
    }'
}
HEAD='#       size         count      type   redop    root     time   algbw   busbw  #wrong     time   algbw   busbw  #wrong'
ROW='  SIZE  COUNT  float  sum  -1  TIME  ALG  BUS  0  9999  0.01  0.01  0'

{
    echo "# nccl-tests version 2.17.1 nccl-headers=22703 nccl-library=22703"
    echo "# Collective test starting: all_reduce_perf"
    ranks
    echo "host:1234:1234 [0] NCCL INFO made up"
    echo "$HEAD"
    echo "#        (B)    (elements)                               (us)  (GB/s)  (GB/s)            (us)  (GB/s)  (GB/s)"
    rows "$ROW"
    echo "# Out of bounds values : 0 OK"
    echo "# Avg bus bandwidth    : 51.3"
    echo "# Collective test concluded: all_reduce_perf"
} >run.log
run calibrate run.log
run calibrate run.log --of yaml --name node --bw-GBps 200 --algorithm ring
run calibrate run.log --of csv --regimes 1
"$WEFT" calibrate run.log --of json -o run.json --regimes 2
tr ',' '\n' <run.json | sed -n '1,30p'
run calibrate run.log -o node.yaml
cat node.yaml
run calibrate run.log -o node.yaml

run calibrate run.log -o run.csv
run plot calibrate run.csv -o run.svg
grep -c '<svg xmlns' run.svg

echo "== what was written is a network that predicts these times"
{ echo "dims:"; "$WEFT" calibrate run.log --of yaml | sed '/^#/d; s/^/  /'; } >net.yaml
cat >study.yaml <<..
network: net.yaml
workload: { name: toy, step: { all-reduce: { size_MB: 67.108864, group: all } } }
..
"$WEFT" sim study.yaml --of csv -q --model alpha-beta | sed '/^#/d' | cut -d, -f1-4
"$WEFT" calibrate run.log --curves --bw-GBps 100 --of yaml >rows.yaml
echo 'dims: [ { name: node, shape: switch, size: 4, bw_GBps: 100, curves: rows.yaml } ]' >rows_net.yaml
for net in net.yaml rows_net.yaml; do
    for model in alpha-beta chunk flow; do
        sed '/^#/d' run.csv | sed 1d | cut -d, -f6,7 | while IFS=, read -r bytes time_us; do
            "$WEFT" sim study.yaml --of csv -q --model $model --set network=$net \
                --set workload.step.all-reduce.size_MB="$(awk "BEGIN { print $bytes / 1e6 }")" |
                awk -F, -v us="$time_us" 'END { print $4 * 1e6 / us - 1 }'
        done | awk -v what="$net, $model" '{ most = $1 > most ? $1 : -$1 > most ? -$1 : most; n++ }
            END { print what ":", n, "rows,", most < 0.002 ? "within the fit" : "off by " most }'
    done
done

echo "== every version prints the same curve"
{ ranks; rows '  SIZE  COUNT  float  sum  TIME  ALG  BUS  0e+00  9999  0.01  0.01  0e+00'; } >all_reduce.v2020
{ ranks; rows '  SIZE  COUNT  float  TIME  ALG  BUS  0e+00  9999  0.01  0.01  0e+00'; } >all_reduce.11
{
    echo '#      bytes             N    type      op     time  algbw  busbw      res     time  algbw  busbw      res'
    ranks
    rows '  SIZE  COUNT  float  sum  MS  ALG  BUS  0e+00  9.999  0.01  0.01  0e+00'
} >all_reduce.2018
{ ranks; rows '  SIZE  COUNT  float  sum  -1                                  TIME  ALG  BUS  N/A'; } >all_reduce.inplace
{ ranks; rows '  SIZE  COUNT  float  sum  -1  TIME  ALG  BUS  33  0  9999  0.01  0.01  33  0'; } >all_reduce.copy
{ ranks; rows "$ROW" | sed 's/ 0  9999/ 0 1 2 2 1.5  9999/; s/$/ 1 2 2 1.5/'; } >all_reduce.periter
{ ranks; rows "$ROW" | sed 's/$/  2026-01-02 03:04:05/'; } >all_reduce.stamped
{ ranks; echo "$HEAD" | sed 's/   time/cputime/g'; rows "$ROW" | sed 's/^/[1,0]<stdout>:/'; } >all_reduce.cpu
for file in all_reduce.*; do fitted "$file"; done
{ echo "bytes,time_us,remark"; rows 'SIZE,TIME,"a, ""b"""'; } >plain.csv
fitted - --ranks 4 --collective all-reduce <plain.csv
fitted plain.csv --ranks 4 --collective all-reduce
{ echo "curve,collective,gpus,bytes,busbw_GBps"; rows 'one,allreduce,4,SIZE,BUS'; rows 'two,allreduce,8,SIZE,BUS'; } >two.csv
fitted two.csv --curve 1 --shape ring
run calibrate two.csv --of yaml
run calibrate two.csv --curve 3

echo "== curves by number of members, as a file that a network names"
run calibrate two.csv --curves --bw-GBps 150 --shape ring --of yaml
"$WEFT" calibrate two.csv --curves --bw-GBps 150 --shape ring --of yaml >curves.yaml
"$WEFT" calibrate two.csv --curves --bw-GBps 150 --shape ring --algorithm halving-doubling 2>&1 | grep '^curve\|^# of a dim\|^ *- {' | cut -d, -f1-2
"$WEFT" calibrate two.csv --curves --bw-GBps 150 --in-switch sharp | grep '^# of a dim'
echo "== a curve of few points beside others, and alone"
{ cat two.csv; echo 'three,allreduce,8,1024,5'; echo 'three,allreduce,8,2048,6'; } >three.csv
"$WEFT" calibrate three.csv --shape ring --regimes 1 --of csv 2>&1 | grep 'left out\|^curve'
{ head -n 1 two.csv; sed -n '$p' three.csv; sed -n '$s/three/four/p' three.csv; } >few.csv
run calibrate few.csv --shape ring
cat >ring.yaml <<..
dims: [ { name: node, shape: ring, size: 16, bw_GBps: 150, latency_ns: 1000, curves: curves.yaml } ]
..
cat >ring_study.yaml <<..
network: ring.yaml
model: alpha-beta
workload:
  name: toy
  groups: { four: { members: [4] }, eight: { members: [8] } }
  step: { sum: [ { all-reduce: { size_MB: 67.108864, group: four } }, { all-reduce: { size_MB: 67.108864, group: eight } } ] }
..
run sim ring_study.yaml
"$WEFT" calibrate two.csv --curve 2 --shape ring --bw-GBps 150 --of json | tr '{' '\n' | grep '"bytes": 67108864'
run sim ring_study.yaml --set 'workload.step={ sum: [ { all-reduce: { size_MB: 1, group: all } }, { all-gather: { size_MB: 1, group: four } } ] }'
run sim ring_study.yaml --model bandwidth

echo "== bad input"
run calibrate two.csv --curves
run calibrate two.csv two.csv --curves --bw-GBps 150
sed 's/allreduce/alltoall/' two.csv >a2a.csv
run calibrate a2a.csv --curves --bw-GBps 150
run sim ring_study.yaml --set 'network.dims.node.curves=[ { collective: all-reduce, latency_ns: 1, efficiency: 1, up_to_KB: 5 } ]'
run sim ring_study.yaml --set 'network.dims.node.curves=[ { collective: send, latency_ns: 1, efficiency: 1 } ]'
run sim ring_study.yaml --set 'network.dims.node.curves=[ { collective: all-gather, latency_ns: 1 } ]'
run sim ring_study.yaml --set 'network.dims.node.curves=[ { collective: all-gather, members: 1, latency_ns: 1, efficiency: 1 } ]'
run sim ring_study.yaml --set network.dims.node.curves=nowhere.yaml
run sim ring_study.yaml --set 'network.dims=[ { name: t, shape: fat-tree, sizes: [4, 4], bw_GBps: 5, curves: [ { collective: all-gather, latency_ns: 1, efficiency: 1 } ] } ]'
run calibrate
run calibrate none.log
: >empty.log
run calibrate empty.log
echo "nothing of the kind" >noise.log
run calibrate noise.log
rows "$ROW" >x.log
run calibrate x.log --collective all-reduce
run calibrate x.log --ranks 4
run calibrate x.log --ranks 8 --collective all-reduce
run calibrate run.log --ranks 8
run calibrate run.log --collective all-gather
{ sed -n 1,20p run.log; sed -n 13p run.log; } >again.log
run calibrate again.log
{ sed -n 1,13p run.log; sed -n 14p run.log | cut -c1-30; } >cut.log
run calibrate cut.log --regimes 1 --of yaml
sed 's/^  4096 .*/  4096 1024 float sum -1 0.00 0.00 0.00 0 0.00 0.00 0.00 0/; /^  [1-9][0-9]\{8\}/s/ 0  9999/ 7  9999/' run.log >zero.log
run calibrate zero.log --of yaml --regimes 1
run calibrate run.log --size 2
run calibrate run.log --name 'a b'
run calibrate run.log --bw-GBps 0
run calibrate run.log --bw-GBps 20 --of yaml
run calibrate run.log --algorithm in-switch
run calibrate run.log --shape ring --in-switch nvls
run calibrate run.log --shape rng
run calibrate run.log --regimes 10
