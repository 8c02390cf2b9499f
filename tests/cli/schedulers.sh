#!/bin/sh
# Schedulers that see the network, types of GPUs and power: their examples in configs/clusters, and what is wrong.
cd "$TMPDIR" || exit 1
run() { echo "\$ weft $*"; "$WEFT" "$@" 2>&1; echo "exit $?"; }
echo "== rings at a half and a quarter of their bandwidth"
run place gadget-links --set seeds=2 --set 'vary={racks.rack_GBps: [10, 0.6]}'
run place gadget-links --set seeds=1 --set jobs.tau.inner_GBps=1
echo "== energy: held and idle NPUs, by hand"
cat >two.csv <<'..'
job_id,submit_s,gpus,runtime_s,status,model,iters,grad_bytes,batch,ps,workers,priority,synthetic
a,0,4,100,pass,,100,1,,,,,
b,0,8,50,pass,,25,1,,,,,
..
cat >power.yaml <<'..'
model: events
network: "switch:2@100 switch:4@5"
npu_watt: 500
idle_watt: 100
jobs: { trace: two.csv, length: iterations }
schedulers: [fifo]
..
# 150 s of 8 GPUs, of which a held 4 for 100 s and b 8 for 50 s: (800 x 500 + 400 x 100) J for 2 jobs, 125 iterations.
run place power.yaml
sed '/npu_watt/d' power.yaml >unknown.yaml
run place unknown.yaml
run place power.yaml --set model=slots --set 'jobs={count: 2}' --set 'schedulers=[drf]'
run place gadget-links --set seeds=1 --set npu_watt=700 --set idle_watt=140 --set 'vary={racks.rack_GBps: [0.6]}'
echo "== energy as an aim of GADGET: what it saves, and what is wrong"
run place gadget-links --set seeds=4 --set npu_watt=700 --set idle_watt=140 --set 'schedulers=[gadget, drf]' --set 'vary={gadget.energy_weight: [0, 1000, 5000]}'
run place gadget-links -q --set gadget.energy_weight=9
run place gadget-links -q --set gadget.energy_weight=9 --set npu_watt=700 --set idle_watt=140 --set jobs.progress=const
run place power.yaml --set gadget.energy_weight=9
echo "== places for SMD's tasks: links, and servers too small"
run place smd-servers --set seeds=3 --set 'schedulers=[smd, esw]' --places seats.csv
grep -v '^#' seats.csv | sed -n 1,4p
run place smd-servers --set seeds=3 --set 'schedulers=[smd]' --set 'servers={gpu: 8, vcpu: 48, memory_GB: 20, disk_GB: 16}' --set 'vary={network: ["switch:8@400 switch:150@0.625"]}'
run place smd-servers --set pool='{units: 1}'
run place smd-servers --set 'servers={gpu: 8, vcpu: 48}'
echo "== types of NPU: alone on either a job is weft sim with that NPU"
cat >types.yaml <<'..'
model: events
network:
  dims:
    - { name: node, shape: switch, size: 8, bw_GBps: 450 }
    - { name: pod, shape: switch, size: 8, bw_GBps: 50 }
npus:
  - { name: old, npu: a100-80gb, servers: 4, inner_GBps: 300 }
  - { name: new, npu: b200, servers: 4, inner_GBps: 900 }
jobs:
  mix:
    - { name: tune, model: llama3-8b, gpus: 16, parallel: { batch: 32, zero: 3, recompute: full }, steps: 100, share: 3 }
    - { name: wide, model: llama3-8b, gpus: 8, parallel: { batch: 32, zero: 1, recompute: full }, steps: 100, share: 1 }
  count: 1
  jobs_per_h: 60
schedulers: [fifo]
..
for on in old:a100-80gb:300 new:b200:900; do
    npu=${on#*:}
    bw=${npu#*:} npu=${npu%:*}
    # All servers but one pair are too few for the job.
    "$WEFT" place types.yaml -q --of csv --set "npus=[{name: x, npu: $npu, servers: 7, inner_GBps: $bw}, {name: y, npu: v100-32gb, servers: 1}]" --set 'jobs.mix[1].share=0' | sed -n 's/^0,[^,]*,events,fifo,1,1,1,,\([^,]*\),.*/100 steps \1/p'
    cat >alone.yaml <<..
network: { npu: $npu, dims: [ { shape: switch, size: 8, bw_GBps: $bw }, { shape: switch, size: 2, bw_GBps: 50 } ] }
workload: { model: llama3-8b, parallel: { batch: 32, zero: 3, recompute: full } }
..
    "$WEFT" sim alone.yaml -q --of json | sed -n 's/.*"bandwidth", "time_s": *\([0-9.]*\).*/a step \1/p'
done
echo "== the fastest that has room, and energy of either"
run place types.yaml --set jobs.count=40 --set 'schedulers=[fifo, fifo+topology, srtf, las, drf]'
run place types.yaml --set 'npus[0].npu=v100-32gb'
for few in 'npus[1].speed=1' 'npus[1].npu.mem_GB=1'; do # a search finds no plan on one type, on none
    "$WEFT" place types.yaml --set 'jobs.mix[0].search={tp: [1]}' --set 'npus[0].npu.mem_GB=1' --set "$few" -f -o searched.txt 2>&1
    echo "exit $?"
done
cat >speeds.csv <<'..'
job_id,submit_s,gpus,runtime_s,status,model,iters,grad_bytes,batch,ps,workers,priority,synthetic
a,0,32,100,pass,,100,1,,,,,
b,0,32,100,pass,,100,1,,,,,
..
run place types.yaml --set 'jobs={trace: speeds.csv}' --set 'npus[0].speed=0.5' --set 'npus[1].speed=2' --set npu_watt=500 --set idle_watt=0
echo "== Gavel's shares of types, on any threads; rounds that setting up again fills"
run place npu-types --set seeds=2
for j in 1 3; do "$WEFT" place npu-types -q --of csv -j $j --set seeds=3 --set 'schedulers=[gavel, gavel-makespan+random]' >gavel$j.csv; done
cmp gavel1.csv gavel3.csv && echo same
run place npu-types -q --set events.overhead_s=360
echo "== what is wrong with types"
bad() { run place types.yaml -q "$@"; }
bad --set 'npus[0].servers=5'
bad --set 'npus[1].name=old'
bad --set network.npu=b200
bad --set 'npus[0].npu={mem_GB: 80}'
bad --set 'npus[0].npu=nope'
bad --set 'jobs.mix[1]={workload: {step: {compute_ms: 3}}, gpus: 8, steps: 10}'
bad --set 'jobs.mix[1].gpus=40'
bad --set 'jobs.mix[1].parallel={tp: 3, batch: 32}'
bad --set 'npus[0].npu.mem_GB=1' --set 'npus[1].npu.mem_GB=1'
bad --set 'jobs={trace: speeds.csv}'
bad --set 'system={}'
bad --set server=npu
run alloc types.yaml -q
sed '/^network/,/pod/d' types.yaml >graph.yaml
run place graph.yaml -q --set 'racks={servers: 8, racks: 2}'
