#!/bin/sh
# Jobs that are models: their steps are those of weft sim on their places, links that they share slow them down,
# memory decides what fits, and what is wrong is said where it stands.
cd "$TMPDIR" || exit 1
run() { echo "\$ weft $*"; "$WEFT" "$@" 2>&1; echo "exit $?"; }
cat >small.yaml <<'..'
name: small
layers: 8
hidden: 2048
heads: 16
kv_heads: 8
ffn: 8192
seq: 2048
vocab: 32000
activation: swiglu
..
cat >ring.yaml <<'..'
name: ring
step: { sum: [ { compute_ms: 10 }, { all-reduce: { size_MB: 100, group: all } } ] }
..
cat >mix.yaml <<'..'
name: mix
model: events
network:
  npu: { peak_TFLOPS: 989, mem_GBps: 3350, mem_GB: 80 }
  dims:
    - { name: node, shape: switch, size: 8, bw_GBps: 450 }
    - { name: pod, shape: fat-tree, sizes: [2, 4], taper: 2, bw_GBps: 50 }
server: node
jobs:
  mix:
    - { name: pretrain, model: small.yaml, gpus: 32, parallel: { tp: 8, batch: 64 }, steps: 1000, share: 1 }
    - { name: tune, model: small.yaml, gpus: 16, parallel: { tp: 1, batch: 32, zero: 3 }, tokens: 1e8, share: 4 }
    - { name: ring, workload: ring.yaml, gpus: 16, steps: 20000, share: 2 }
  count: 50
  jobs_per_h: 200
schedulers: [fifo, fifo+spread, srtf]
..
echo "== a mix on one network"
run place mix.yaml
echo "== one job alone is weft sim of its place"
sed -n '/^network/,/pod/p' mix.yaml | sed 's/sizes: \[2, 4\]/sizes: [2, 2]/' >sim.yaml
echo 'workload: { model: small.yaml, parallel: { tp: 8, batch: 64 } }' >>sim.yaml
"$WEFT" sim sim.yaml -q --of json | sed -n 's/.*"bandwidth", "time_s": *\([0-9.]*\).*/a step \1/p'
for duty in always interleaved; do
    "$WEFT" place mix.yaml -q --of csv --set jobs.count=1 --set 'jobs.mix[1].share=0' --set 'jobs.mix[2].share=0' --set 'schedulers=[fifo]' --set events.duty=$duty | sed -n 's/^0,[^,]*,events,fifo,1,1,1,,\([^,]*\),.*/1000 steps \1/p'
done
echo "== a plan that is searched, and rates of each entry's own"
without() { sed "$1" mix.yaml >other.yaml; shift; run place other.yaml -q "$@"; }
without '/jobs_per_h/d' --set 'schedulers=[fifo]' --set 'jobs.mix=[{model: small.yaml, gpus: 32, parallel: {batch: 64}, search: {pp: [1]}, steps: 1000, jobs_per_h: 50}, {workload: ring.yaml, gpus: 8, steps: 20000, jobs_per_h: 150}]'
echo "== a trace that names models, beside jobs that it tells all of"
cat >trace.csv <<'..'
job_id,submit_s,gpus,runtime_s,status,model,iters,grad_bytes,batch,ps,workers,priority,synthetic
a,0,64,60,pass,pretrain,60,1e9,,,,,
b,5,16,60,pass,other,60,1e9,,,,,
c,9,16,60,pass,ring,60,1e9,,,,,
..
without '/jobs_per_h/d; /count/d' --set jobs.trace=trace.csv --set jobs.length=iterations --set 'schedulers=[fifo]' --jobs jobs.csv
sed '/^#/d' jobs.csv
echo "== keys without effect"
note() { { "$WEFT" place "$@" --set 'schedulers=[fifo]' >plain.txt; } 2>&1; }
note mix.yaml --set jobs.length=iterations --set jobs.overlap_frac=0.5 --set 'events={reduce_GBps: 5, inner_GBps: 3}' --set jobs.skip_bad=true
note other.yaml --set jobs.trace=trace.csv --set jobs.length=iterations
echo "== what is wrong"
bad() { run place mix.yaml -q "$@"; }
bad --set 'jobs.mix[0].gpus=128'
bad --set 'jobs.mix[0].parallel={tp: 3, batch: 64}'
bad --set 'jobs.mix[0].parallel={tp: 8, dp: 2, batch: 64}'
bad --set network.npu.mem_GB=2
bad --set network.npu.mem_GB=2 --set 'jobs.mix[0].search={tp: [1]}' --set 'jobs.mix[0].parallel={batch: 64}'
without 's/peak_TFLOPS: 989, //'
without 's/, steps: 1000//'
bad --set 'jobs.mix[0].tokens=1e9'
without 's/steps: 20000/tokens: 1e9/'
without 's/model: small.yaml, gpus: 32/gpus: 32/'
bad --set 'jobs.mix[0].workload=ring.yaml'
without 's/, parallel: { tp: 8, batch: 64 }//'
bad --set 'jobs.mix[2].parallel={tp: 8}'
bad --set 'jobs.mix[0].share=0' --set 'jobs.mix[1].share=0' --set 'jobs.mix[2].share=0'
bad --set 'jobs.mix[0].jobs_per_h=3'
bad --set jobs.profile=vision-2019
bad --set 'jobs.mix=[]'
without 's/shape: fat-tree.*/shape: dragonfly, sizes: [2, 2, 3], links: 1, bw_GBps: 50 }/'
without '/^network/,/^server/d; s/^jobs:/racks: {}\njobs:/'
bad --set 'jobs.mix[0].model=none.yaml'
bad --set 'jobs.mix[0].gpu=3'
echo "== which network to buy: whole parts, and bandwidths that are given"
cat >parts.yaml <<'..'
name: p
grade: V
catalogue:
  - { name: nic, kind: nic, ports: 1, bw_GBps: 25, usd: 500, watt: 20 }
  - { name: box, kind: switch, ports: 16, bw_GBps: 25, usd: 4000, watt: 300 }
  - { name: end, kind: link, bw_GBps: 25, usd: 100, watt: 5, reach_m: 400 }
  - { name: fabric, kind: product, bw_GBps: 450, ports: 8, watt: 100 }
build:
  - { tier: In, product: fabric }
  - { tier: Out, nic: nic, switch: box, end_link: end, up_link: end }
..
sed -e 's/bw_GBps: 450 }/bw_GBps: 450, tier: In }/' -e 's/taper: 2, bw_GBps: 50 }/taper: 2, max_GBps: 75, tier: Out }/' -e '/^schedulers/d' mix.yaml >buy.yaml
cat >>buy.yaml <<'..'
parts: parts.yaml
pricing: whole
schedulers: [fifo]
seeds: 4
vary: { network.dims.pod.taper: [1, 2, 4] }
..
run alloc buy.yaml
run alloc buy.yaml --set objective=completion_per_cost --set 'constraints=["usd <= 250000"]' -o buy.csv
sed -n '/^point/,$p' buy.csv
run alloc buy.yaml --set 'constraints=["usd <= 1"]'
run alloc mix.yaml --of json | sed -e 's/.*"objective"/"objective"/' -e 's/"designs".*//'
echo "== the whole machine: what failures leave, what a job costs"
owned='system={ npu_usd: 30000, npu_watt: 700, checkpoint: { size_GB: 10 } }'
run place mix.yaml --set 'schedulers=[fifo]' --set "$owned"
run alloc buy.yaml -q --set objective=usd_per_job --set seeds=2 --set "$owned"
run alloc buy.yaml -q --set objective=kwh_per_job --set seeds=2 --set "$owned"
run alloc buy.yaml -q --set objective=kwh_per_job --set seeds=2 --set npu_watt=700 --set idle_watt=100
run place mix.yaml --set 'schedulers=[fifo]' --set 'system={ npu_usd: 30000, npu_watt: 700 }'
run place mix.yaml --set 'schedulers=[fifo]' --set 'system={ npu_usd: 30000, npu_watt: 700, checkpoint: { size_GB: 1e9, store_GBps: 1 } }'
run place mix.yaml --set 'schedulers=[fifo]' --set 'system={ npu_usd: 30000 }'
echo "== tenants: what their jobs held, and their part of the whole machine, which they add up to"
"$WEFT" place mix.yaml -q --set 'schedulers=[fifo]' --set "$owned" --set seeds=2 --set 'jobs.mix[0].tenant=lab' --set 'jobs.mix[1].tenant=shop' \
    --tenants tenants.csv --runs runs.csv -o /dev/null
sed '/^#/d' tenants.csv
awk -F, '/^#/ { next } !seen[FILENAME]++ { for (i = 1; i <= NF; i++) at[FILENAME, $i] = i; next }
    FILENAME == "runs.csv" { n = $at["runs.csv", "jobs"]; all += $at["runs.csv", "usd_per_job"] * n; energy += $at["runs.csv", "kwh_per_job"] * n; next }
    { usd += $at["tenants.csv", "usd"]; kwh += $at["tenants.csv", "kwh"] }
    END { print (usd / all - 1) ^ 2 + (kwh / energy - 1) ^ 2 < 1e-20 ? "all of it" : "wrong: " usd " of " all ", " kwh " of " energy }' runs.csv tenants.csv
run place mix.yaml -q --set 'jobs.mix[0].tenant=lab' --set 'jobs.mix[0].share=0'
echo "== replicas that exchange every few steps: so many bytes fewer, of which fragments hide"
step() {
    "$WEFT" place mix.yaml -q --of csv --set jobs.count=1 --set 'schedulers=[fifo]' --set network.dims.pod.bw_GBps=2 \
        --set "jobs.mix=[{model: small.yaml, gpus: 32, parallel: {tp: 8, batch: 64$1}, steps: 1$2}]" | sed -n 's/^0,[^,]*,events,fifo,1,1,1,,\([^,]*\),.*/\1/p'
}
flat=', overlap_dp: false'
every=$(step "$flat" '') tenth=$(step "$flat" ', period: 10') never=$(step "$flat" ', period: 1000000')
echo "$every $tenth $never" | awk '{ want = $3 + ($1 - $3) / 10; print ($1 > 1.1 * $3 && ($2 - want) ^ 2 < (1e-4 * want) ^ 2) ? "a tenth of what every step takes" : "wrong: " $0 }'
[ "$(step "$flat" ', keep: 0.1')" = "$tenth" ] && echo "keep 0.1: as many bytes"
step '' ', period: 10, fragments: 5' | awk -v all="$tenth" '{ print $1 < all ? "fragments: hidden beside steps" : "wrong: " $1 }'
for method in 'parallel: {tp: 8, dp: 1, pp: 4, batch: 64}, period: 10' 'parallel: {tp: 8, batch: 64, zero: 1}, period: 10' 'parallel: {tp: 8, batch: 64}, fragments: 4'; do
    run place mix.yaml -q --set "jobs.mix=[{model: small.yaml, gpus: 32, $method, steps: 1}]"
done
run place mix.yaml -q --set 'jobs.mix[2].keep=0.5'
run place mix.yaml -q --set 'jobs.mix[0].keep=2'
echo "== many steps down"
"$WEFT" alloc buy.yaml --set seeds=1 --set "vary={network.dims.pod.taper: [2]}" --set network.dims.pod.max_GBps=1000 | sed -n "/^design /,/more\|all$/p"
echo "== what is wrong with that"
run place buy.yaml
run alloc buy.yaml --set objective=time
run alloc mix.yaml --set objective=completion_per_cost
run alloc mix.yaml --set objective=usd_per_job
run alloc mix.yaml --set objective=kwh_per_job
run alloc buy.yaml --set objective=kwh_per_job --set "system={ npu_usd: 30000 }"
sed 's/, watt: [0-9]*//' parts.yaml >dark.yaml
run alloc buy.yaml --set objective=kwh_per_job --set parts=dark.yaml --set "$owned"
run alloc mix.yaml --set events.horizon_s=3
sed -e '/^jobs:/,/^  jobs_per_h/d' mix.yaml >idle.yaml
run alloc idle.yaml
run alloc idle.yaml --set model=bandwidth --set objective=completion
run place mix.yaml -q --set 'jobs.mix=[{model: small.yaml, gpus: 1, parallel: {tp: 1, batch: 8}, period: 4, steps: 1}]'
run place mix.yaml -q --set resolve_pct=1
sed 's/max_GBps: 75, //' buy.yaml >open.yaml
run alloc open.yaml
run alloc open.yaml --set 'jobs.mix[0].search={tp: [8]}'
sed -e '/jobs_per_h/d; /count/d' mix.yaml >traced.yaml
run alloc traced.yaml --set jobs.trace=trace.csv
