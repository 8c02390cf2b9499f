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
echo "== places for SMD's tasks: links, and servers too small"
run place smd-servers --set seeds=3 --set 'schedulers=[smd, esw]' --places seats.csv
grep -v '^#' seats.csv | sed -n 1,4p
run place smd-servers --set seeds=3 --set 'schedulers=[smd]' --set 'servers={gpu: 8, vcpu: 48, memory_GB: 20, disk_GB: 16}' --set 'vary={network: ["switch:8@400 switch:150@0.625"]}'
run place smd-servers --set pool='{units: 1}'
run place smd-servers --set 'servers={gpu: 8, vcpu: 48}'
