#!/bin/sh
# The small inputs of commands.txt, in the folder where it is run: WEFT=program ROOT=checkout setup.sh
set -eu
ln -s "$ROOT/configs" configs
ln -s "$ROOT/tests/traces" traces

cat >prices.yaml <<..
name: prices
rates:
  - { tier: A, link_usd_per_GBps: 4 }
  - { tier: B, link_usd_per_GBps: 8, switch_usd_per_GBps: 18, nic_usd_per_GBps: 32 }
..
cat >split.yaml <<..
network:
  name: two
  dims:
    - { name: node, shape: ring, size: 4, tier: A, latency_ns: 100 }
    - { name: pod, shape: switch, size: 8, tier: B, latency_ns: 500 }
parts: prices.yaml
total_GBps: 300
workload:
  name: toy
  groups: { tp: { size: 4 }, dp: { after: tp } }
  step:
    sum:
      - compute_ms: 1
      - max: [ { compute_ms: 0.2 }, { all-reduce: { size_MB: 80, group: dp } } ]
      - all-to-all: { size_MB: 8, group: tp }
..
{ cat split.yaml && echo 'budget: { usd: 1e6, nic_GBps: 400 }'; } >budget.yaml
# Needs linear programmes in rational numbers.
cat >exact.yaml <<..
network:
  dims:
    - { shape: full, size: 14, min_GBps: 5.5 }
    - { shape: ring, size: 8 }
    - { shape: ring, size: 16, bw_GBps: 0.93955194600087832 }
    - { shape: switch, size: 12 }
    - { shape: ring, size: 4, max_GBps: 112512.96041011365 }
objective: time
workloads:
  - weight: 1.9338458349806833
    workload:
      groups: { a: { members: [ 1, 8, 16, 12, 1 ] }, b: { members: [ 14, 8, 1, 12, 4 ] }, c: { members: [ 14, 8, 16, 12, 4 ] } }
      step:
        sum:
          - all-to-all: { size_MB: 6.6e-05, group: a }
          - max:
              - sum: [ { reduce-scatter: { size_MB: 221614433.862404, group: b } }, { compute_ms: 25 } ]
              - sum: [ { all-gather: { size_MB: 32518207.908393, group: c } }, { sum: [ { all-gather: { size_MB: 652011.312254, group: b } } ] } ]
..
{ cat split.yaml && echo 'vary: { objective: [ time, perf_per_cost ], network.dims.node.max_GBps: [ 40, 1000 ] }'; } >vary.yaml
# A unit of work for each point: a failure leaves points that are done.
{ cat split.yaml && echo 'vary: { network.dims.pod.size: [ 2, 3, 4, 5, 6, 7, 8, 16 ] }'; } >steps.yaml
sed -e 's/tier: A,/bw_GBps: 100, tier: A,/' -e 's/tier: B,/bw_GBps: 50, tier: B,/' -e '/total_GBps/d' split.yaml >fixed.yaml
cat >pods.yaml <<..
network:
  name: pods
  dims:
    - { name: node, shape: switch, size: 8, bw_GBps: 450, tier: InterPackage }
    - { name: rail, shape: switch, size: 32, tier: InterRail }
parts: configs/parts/catalogue-2026.yaml
workload: { name: toy, step: { sum: [ { compute_ms: 1 }, { all-reduce: { size_MB: 80, group: all } } ] } }
constraints: [ usd <= 30e6 ]
..
cat >model.yaml <<..
network:
  name: small
  npu: { peak_TFLOPS: 100, mem_GB: 8, mem_GBps: 1000, matrix_efficiency: 0.8, matrix_half_out: 128, kernel_ns: 4000 }
  dims:
    - { name: node, shape: ring, size: 4, bw_GBps: 100, latency_ns: 1000 }
    - { name: pod, shape: switch, size: 16, bw_GBps: 12.5, latency_ns: 5000 }
model: alpha-beta
workload:
  name: small GPT
  model: { layers: 16, hidden: 2048, heads: 16, vocab: 32000, seq: 2048, attention: unfused, tied: true, biases: true, dropout: true }
  parallel: { tp: 4, pp: 4, batch: 64, recompute: selective, seq_parallel: true, zero: 1 }
..
awk 'BEGIN { print "src,dst,bw_GBps,latency_ns,class,usd"
    for (v = 0; v < 16; v++) { x = v % 4; y = int(v / 4)
        printf "n%d,n%d,25,100,x,100\nn%d,n%d,25,100,y,150\n", v, (x + 1) % 4 + 4 * y, v, x + 4 * ((y + 1) % 4) } }' >torus.csv
cat >graph.yaml <<..
network:
  name: torus
  graph: torus.csv
  classes: [ { name: x }, { name: y } ]
workload:
  name: shuffle
  step: { sum: [ { compute_ms: 1 }, { all-to-all: { size_MB: 100, group: all } } ] }
total_GBps: 100
..
cat >owned.yaml <<..
network:
  npu: { usd: 20000, watt: 700 }
  dims:
    - { name: node, shape: ring, size: 4, bw_GBps: 400, tier: N }
    - { name: pod, shape: switch, size: 8, bw_GBps: 100, tier: P }
parts:
  grade: V
  catalogue:
    - { name: nic, kind: nic, ports: 1, bw_GBps: 50, usd: 1000, watt: 20 }
    - { name: box, kind: switch, ports: 64, bw_GBps: 50, usd: { low: 9000, typ: 10000, high: 12000 }, watt: 500, mtbf_h: 1e5 }
    - { name: end, kind: link, bw_GBps: 50, usd: 100, watt: 10, reach_m: 3 }
    - { name: far, kind: link, bw_GBps: 50, usd: 400, watt: 15, reach_m: 100 }
  build:
    - { tier: N, end_link: end }
    - { tier: P, nic: nic, switch: box, end_m: 20 }
workload: { step: { sum: [ { compute_ms: 1 }, { all-reduce: { size_MB: 16, group: all } } ] } }
system: { npus_per_node: 4, checkpoint: { size_GB: 200 }, repair_h: 2, step_tokens: 1e6 }
..
{ sed -e 's/ bw_GBps: 400,//' -e 's/size: 8, bw_GBps: 100,/size: 8,/' owned.yaml && echo 'total_GBps: 300'; } >best.yaml
printf 'HYBRID_TRANSFORMER_FWD_IN_BCKWD model_parallel_NPU_group: 2 ep: 1 pp: 1 vpp: 1 ga: 1 all_gpus: 8 checkpoints: 0 checkpoint_initiates: 0 pp_comm: 0\n1\n' >simai.txt
printf 'attn\t-1\t1000\tALLREDUCE\t4096\t1000\tALLREDUCE\t4096\t500\tALLTOALL_EP\t8192\t100\n' >>simai.txt
# A record: length and content. Node 1 "fwd" computes 25 us, node 2 "ar" is an all-reduce of 1 MiB on dimension 1.
{
    printf '\007\n\0050.0.4'
    printf '\013\010\001\022\003fwd\030\0048\031'
    printf '\102\010\002\022\002ar\030\007*\001\001'
    printf 'R\015\n\tcomm_typeH\000R\017\n\tcomm_sizeH\200\200@'
    printf 'R\025\n\014involved_dim\342\001\004\n\002\001\000'
} >t.0.et
for reader in simai: chakra:; do
    case $reader in simai*) file=simai.txt ;; *) file=t.0.et ;; esac
    printf 'network: "ring:2@100 switch:4@50"\nworkload: { name: toy, %s %s }\n' $reader $file >${reader%:}.yaml
done

cat >slots.yaml <<..
name: small
network: "ring:4@100 switch:4@50"
model: slots
slots: 20
jobs: { count: 4, zeta: [60, 120], hop_GBps: 0.25 }
seeds: 1
..
cat >batch.yaml <<..
model: batch
jobs: { sizes: [[1, 4], [2, 3], [4, 2]], iteration_s: 0.02, iterations: 5000, run_s: 100 }
pool: { servers: 3, gpus: [4] }
..
cat >jobs.csv <<..
job_id,submit_s,gpus,runtime_s,status,model,iters,grad_bytes,batch,ps,workers,priority,synthetic
a,0,4,60,pass,,60,1e9,,,,,
b,5,8,30,pass,,60,1e9,,,,,
c,10,2,25,killed,,30,1e8,,,,,
d,12,8,40,pass,,40,2e9,,,,,
..
cat >events.yaml <<..
model: events
network: "switch:2@100 switch:4@5"
jobs: { trace: jobs.csv, length: iterations }
schedulers: [fifo, fifo+topology, srtf+spread, las, drf]
..
cat >tenants.yaml <<..
model: events
network: "switch:8@100 switch:64@5"
jobs: { count: 3, jobs_per_h: 30, profile: configs/clusters/profiles/llm-2024.yaml, length: iterations }
schedulers: [drf]
seeds: 2
..
cat >types.yaml <<..
model: events
network: "switch:4@100 switch:3@50"
npus: [ { name: slow, npu: a100-80gb, servers: 1, speed: 1 }, { name: fast, npu: b200, servers: 2, speed: 3 } ]
npu_watt: 500
events: { round_s: 5 }
jobs: { trace: jobs.csv, length: iterations }
schedulers: [gavel, gavel-makespan]
..
cat >interval.yaml <<..
model: interval
jobs: { count: 5 }
pool: { units: 1 }
seeds: 1
..
cat >layers.yaml <<..
name: measured
layers:
  - { name: emb, kind: embedding, in_B: 4000, out_B: 32000, weight_MB: 640, sparse_B: 64000, compute_ms: { cpu: 31, v100: 4 }, comm_ms: { cpu: 3, v100: 200 } }
  - { name: fc1, kind: fc, in_B: 32000, out_B: 4096, weight_MB: 32, compute_ms: { cpu: 9000, v100: 28 }, comm_ms: { cpu: 30, v100: 5 }, handover_ms: { cpu: 1, v100: 1 } }
  - { name: fc2, kind: fc, in_B: 4096, out_B: 4, weight_MB: 4, compute_ms: { cpu: 900, v100: 3 }, comm_ms: { cpu: 3, v100: 1 } }
types:
  - { name: cpu, cpu: true, usd_per_h: 0.04, max_units: 256, compute_parallel: 0.97, comm_parallel: 0.95 }
  - { name: v100, usd_per_h: 2.42, max_units: 64, probe: { units: 8, compute_ratio: 0.13, comm_ratio: 0.2 }, host: cpu, host_units: 6 }
batch: 4096
job: { examples_M: 1000, epochs: 2 }
evaluations: 6
rl: { rounds: 1, plans: 2 }
seeds: 1
..
cat >gossip.yaml <<..
name: small
network: switch:4@0.001
learner: { hidden: 4, batch: 16, epochs: 1 }
data: { train: 80, test: 20, features: 4, classes: 2, hidden: 4 }
methods:
  - { method: pair, period: [1, 4] }
  - { method: pair, rule: drift, theta: 0.05, cap: 64 }
  - all-reduce
  - { method: local, period: 8, name: every eighth }
seeds: 2
..
printf 'bytes,time_us\n1024,12\n65536,15\n1048576,60\n16777216,800\n268435456,12500\n' >curve.csv
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
    echo "op,pass,precision,m,n,k,batch,heads,seq,head_dim,causal,time_us"
    for side in 1024 4096 16384; do
        for inner in 1024 16384; do
            echo "matrix,fwd,bf16,$side,8192,$inner,,,,,,$((590 + side % 3000 / 50))"
        done
        echo "flash,fwd,bf16,,,,1,32,$side,128,1,$((side / 4))"
    done
} >ops.csv

# What other commands read.
"$WEFT" topo "ring:4@250 switch:4@50" --graphml g.graphml --astra n.yml --astra-system s.json -q >facts.txt
"$WEFT" sweep vary.yaml -q -o rows.csv
"$WEFT" sweep vary.yaml -q --store rows.db 2>facts.txt
for i in 1 2; do "$WEFT" sweep vary.yaml -q --store "part$i.db" --shard "$i/2" 2>facts.txt; done
"$WEFT" sim fixed.yaml --model chunk -q --timeline timeline.csv >facts.txt
"$WEFT" tornado owned.yaml -q --by usd_npu_h,cost_usd -o swings.csv
"$WEFT" place batch.yaml -q -o placed.csv --places places.csv
"$WEFT" gossip gossip.yaml -q -o gossiped.csv --curves curves.csv
rm facts.txt
