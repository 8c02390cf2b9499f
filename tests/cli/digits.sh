#!/bin/sh
# shellcheck disable=SC2086 # options are words
# Everything that commands say of many studies, to the last digit: a checksum of each, since it is megabytes. Whether it is right
# is for other tests; here nothing changes unseen. A line that differs names what changed; with KEEP=FOLDER the outputs are kept
# there, numbered, so that those of two builds can be compared.
ln -s "$PWD/configs" "$PWD/tests" "$TMPDIR/"
cd "$TMPDIR" || exit 1

n_said=0
# say WORDS..: the checksum of what is in out and the tables t1.csv to t9.csv or .json, without heads, which name the version; and how it ended,
# where that is not 0, so that a study which an error stops is seen here
say() {
    files=out
    for told in t[0-9].*; do [ ! -e "$told" ] || files="$files $told"; done
    n_said=$((n_said + 1))
    [ -z "${KEEP-}" ] || cat $files >"$KEEP/$n_said"
    # On a slow machine commands also say how far they are.
    sum=$(sed -e '/^# /d' -e '/^weft [a-z]*: \([0-9]* s\($\|: \)\|.*), about [0-9]* [a-z]*$\)/d' -e 's/^{"weft": {[^}]*}, //' -e 's/"otherData": {"weft": {[^}]*}}, //' $files | cksum)
    ended=$(sed -n '$s/^exit [1-9].*/ (&)/p' out)
    [ "$files" = out ] || rm $files
    printf '%.110s\n' "$sum$ended $*"
}
# of COMMAND OPTION..: what it prints, and how it ends
of() {
    { "$WEFT" "$@" 2>&1; echo "exit $?"; } >out
    say "$@"
}
# draws N SHARE: N maps of the keys on standard input, "KEY: VALUE | VALUE ..", each key with this chance; "!KEY" in all of them
draws() {
    awk -v n="$1" -v share="$2" -v x="$((seed * 7919))" '
        function below(n) { x = x * 16807 % 2147483647; return int(x / 2147483647 * n) }
        { all = sub(/^!/, ""); at = index($0, ": "); key[NR] = substr($0, 1, at + 1); must[NR] = all
          n_values[NR] = split(substr($0, at + 2), value, / \| /); for (i = 1; i <= n_values[NR]; i++) values[NR, i] = value[i] }
        END {
            for (i = 0; i < n; i++) {
                out = ""
                for (k = 1; k <= NR; k++)
                    if (must[k] || below(1000) < 1000 * share)
                        out = out (out == "" ? "" : ", ") key[k] values[k, 1 + below(n_values[k])]
                print (i ? ", " : "") "{ " out " }"
            }
        }'
}
# vary COMMAND STUDY KEY OPTION..: the rows of a study for each of $n maps that are drawn from standard input; of alloc whole answers
n=24
seed=1
vary() {
    command=$1 study=$2 key=$3
    shift 3
    seed=$((seed + 1))
    echo "{ $key: [ $(draws $n 0.25 | tr '\n' ' ')] }" >axis
    how="-j 1 --of csv"
    [ "$command" != alloc ] || how="--of json"
    { "$WEFT" "$command" "$study" -q $how --set "vary=$(cat axis)" "$@" 2>&1; echo "exit $?"; } >out
    say "$command $study $key $*"
}

cat >parts.yaml <<..
name: p
grade: V
catalogue:
  - { name: nic, kind: nic, ports: 1, bw_GBps: 50, usd: { low: 900, typ: 1000, high: 1100 }, watt: 20 }
  - { name: box, kind: switch, ports: 16, bw_GBps: 50, usd: { low: 9000, typ: 10000, high: 12000 }, watt: 500, latency_ns: 300, mtbf_h: 90000 }
  - { name: end, kind: link, bw_GBps: 50, usd: { low: 90, typ: 100, high: 200 }, watt: 9, latency_ns_per_m: 5, reach_m: 40 }
  - { name: up, kind: link, bw_GBps: 50, usd: 400, watt: 9, reach_m: 400 }
build:
  - { tier: In, nic: nic, switch: box, end_link: end, up_link: up }
  - { tier: Out, nic: nic, switch: box, end_link: end, up_link: up }
..
cat >rates.yaml <<..
name: r
nic_port_GBps: 50
rates:
  - { tier: In, link_usd_per_GBps: 2, switch_usd_per_GBps: 3, nic_usd_per_GBps: 4 }
  - { tier: Out, link_usd_per_GBps: { low: 1, typ: 5, high: 6 }, switch_usd_per_GBps: 6, nic_usd_per_GBps: 7 }
..
cat >step.yaml <<..
name: step
groups: { tp: { size: 4 }, dp: { after: tp } }
step:
  sum:
    - { compute_ms: 0.3 }
    - { all-reduce: { size_MB: 50, group: tp }, times: 2 }
    - max:
        - { sum: [ { compute_ms: 2 }, { all-to-all: { size_MB: 20, group: all } } ] }
        - { all-reduce: { size_MB: 80, group: all, priority: 1 }, name: gradients }
        - { broadcast: { size_MB: 5, group: dp } }
    - { reduce-scatter: { size_MB: 3, group: dp } }
    - { all-gather: { size_MB: 0.2, group: all } }
    - { send: { size_MB: 1, group: dp } }
..
cat >model.yaml <<..
{ name: m, layers: 8, hidden: 1024, heads: 16, kv_heads: 4, ffn: 3072, seq: 2048, vocab: 32000 }
..
# study NAME PARTS DIMS [MORE]
study() {
    cat >"$1.yaml" <<..
network:
  npu: { $npu }
  parts: $2
  dims: $3
system:
  npus_per_node: 4
  spare_nodes: 2
  step_tokens: 1e6
  checkpoint: { size_GB: 500 }
  items: [ { name: storage, usd: 50000, watt: 900 } ]
${4-workload: step.yaml}
..
}
npu='peak_TFLOPS: 100, mem_GB: 80, mem_GBps: 2000, usd: 9000, watt: 700, matrix_efficiency: 0.5'
in="name: in, tier: In, latency_ns: 500, bw_GBps: 100"
out="name: out, tier: Out, latency_ns: 900, bw_GBps: 50"
echo "== shapes"
while read -r name inner outer; do
    study "$name" parts.yaml "[ { $in, $(echo "$inner" | tr '%' ' ') }, { $out, $(echo "$outer" | tr '%' ' ') } ]"
    [ "$name" != planes ] || sed -i 's/bw_GBps: 50/bw_GBps: 100/' planes.yaml
    sed 's/bw_GBps: [0-9]*/max_GBps: 400/g' "$name.yaml" >free.yaml
    of topo "$name.yaml" --of json
    of topo "$name.yaml"
    of topo "$name.yaml" --bill --of csv
    of topo "$name.yaml" --dot -
    of explain "$name.yaml" --set model=alpha-beta --of json
    of alloc free.yaml --set total_GBps=300 --of json
    of alloc free.yaml --set total_GBps=300 --set network.parts=rates.yaml --set objective=perf_per_cost --of json
    of alloc free.yaml --set objective=tco_per_token
    [ "$name" = slim ] || of fail "$name.yaml" --of json
    of check "$name.yaml" --set 'budget={ usd: 1e6, watt: 1e5, nics: 64, nic_GBps: 60, time_s: 0.01, site_MW: 1, usd_year: 1e6 }' --of json
done <<..
ring shape:%ring,size:%4 shape:%switch,size:%16
full shape:%full,size:%4 shape:%ring,size:%6
line shape:%line,size:%5 shape:%full,size:%4
sharp shape:%switch,size:%4,in_switch:%nvls shape:%switch,size:%16,in_switch:%sharp
planes shape:%switch,size:%4 shape:%switch,size:%16,planes:%2
tree shape:%switch,size:%2 shape:%fat-tree,sizes:%[4,4],taper:%2
radix shape:%switch,size:%2 shape:%fat-tree,size:%16,radix:%8,taper:%3
shared shape:%switch,size:%4 shape:%fat-tree,sizes:%[4,2],taper:%2,spine:%shared
three shape:%full,size:%2 shape:%fat-tree,sizes:%[2,2,3],taper:%[2,1.5]
fly shape:%switch,size:%2 shape:%dragonfly,sizes:%[2,2,3],links:%2
plus shape:%switch,size:%2 shape:%dragonfly+,hosts:%2,leaves:%2,spines:%2,links:%2,groups:%3
slim shape:%switch,size:%2 shape:%slim-fly,q:%4,hosts:%2
hyperx shape:%switch,size:%2 shape:%hyperx,sizes:%[3,3,2]
mesh shape:%switch,size:%2 shape:%hammingmesh,sizes:%[2,2,2,2]
torus shape:%switch,size:%2 shape:%torus,sizes:%[3,4]
twist shape:%switch,size:%2 shape:%torus,sizes:%[2,4,4],twist:%true
..

echo "== plans"
npu='peak_TFLOPS: 100, peak_8bit_TFLOPS: 200, mem_GB: 80, mem_GBps: 2000, usd: 9000, watt: 700, matrix_efficiency: 0.5, host_GBps: 20, sms: 100'
study train parts.yaml "[ { $in, shape: switch, size: 4 }, { $out, shape: switch, size: 8 } ]" 'workload: { model: model.yaml, parallel: { batch: 64 } }'
sed 's/model: model.yaml/model: { layers: 8, hidden: 512, heads: 8, seq: 1024, vocab: 8000, activation: swiglu, moe: { experts: 16, top_k: 2, ffn: 512, shared: 1, dense_layers: 1 } }/' train.yaml >experts.yaml
cat >plan_keys <<..
!batch: 64 | 128 | 256
tp: 2 | 2, seq_parallel: true | 4, overlap_tp: backward | 4, seq_parallel: true, overlap_tp: split
pp: 2 | 2, schedule: gpipe | 4, interleave: 2, scatter_gather: true | 2, schedule: zb1p | 2, schedule: dualpipe | 4, ends: short, interleave: 2 | 4, overlap_pp: true | 2, first_stage_layers: 3
cp: 2 | 2, context: ring | 2, context: all-gather | 2, context: ulysses
micro_batch: 1 | 2
recompute: none | selective | full | sac
offload: 0.5
zero: 0 | 1 | 2 | 3 | 1, shard: 2 | 3, reshard: false | 2, no_sync: true
overlap_dp: true | false
grad_B: 2 | 4
step_overhead_s: 0.01
precision: fp8 | mxfp8 | bf16 | fp8, attention_precision: fp8
attention_kernel: fused | unfused | fa2
software: megatron | compiled | eager | megatron, graph: attention | megatron, graph: step
launch_us: 5
optimizer_B: 8
moments_B: 2
master_B: 0
jitter: 0.05
mem_margin: 0.1
context_GB: 2
..
for model in bandwidth alpha-beta chunk; do
    vary sweep train.yaml workload.parallel --set split=given --set model=$model <plan_keys
done
{ sed -e 's/^tp: .*/tp: 2, seq_parallel: true | 4, seq_parallel: true, overlap_tp: split/; /^recompute/s/ | 3, shard.*//' -e 's/, shard: 2//; s/ | megatron, graph: step//' plan_keys; printf '%s\n' '!ep: 2 | 4 | 8 | 4, dispatcher: merged | 4, ep_overlap: shared | 4, ep_overlap: batch | 4, dispatch_bits: 8 | 8, node_limit: 2 | 2, expert_tp: true'; } >ep_keys
for model in bandwidth alpha-beta chunk; do
    vary sweep experts.yaml workload.parallel --set split=given --set model=$model <ep_keys
done
cat >model_keys <<..
!layers: 4 | 8
!hidden: 512 | 1024
!heads: 8
!vocab: 1000 | 32000
!seq: 512 | 4096
kv_heads: 2 | 4
head_dim: 96
ffn: 2048 | 3000
vocab_multiple: 128
activation: gelu | swiglu
norm: layer-norm | rms-norm
positions: learned | rotary
attention: unfused | flash
tied: true
biases: true | false
dropout: true
causal: true | false
window: 128
mtp: 1
mla: { q_rank: 128, kv_rank: 64, nope_dim: 32, rope_dim: 16, v_dim: 32 }
moe: { experts: 8, top_k: 2, ffn: 512 } | { experts: 8, top_k: 2, ffn: 512, shared: 2, dense_layers: 1, router_bias: true } | { experts: 8, top_k: 1, ffn: 512, capacity: 1.25, every: 2 }
..
vary sweep train.yaml workload.model --set split=given <model_keys
vary sweep train.yaml network.npu --set split=given <<..
!peak_TFLOPS: 100 | 300
!mem_GB: 40 | 80
!mem_GBps: 900 | 2000
vector_TFLOPS: 20
mem_efficiency: 0.7
matrix_efficiency: 0.4
matrix_half_out: 300
matrix_half_in: 200
attention_efficiency: 0.4
flash_efficiency: 0.3
sms: 108
kernel_ns: 3000
host_GBps: 30
peak_8bit_TFLOPS: 600
power_W: 500
!usd: 1000 | 2000
!watt: 500 | 700
..

echo "== dimensions, simulation, system"
study two parts.yaml "[ { $in, shape: switch, size: 4 }, { $out, shape: switch, size: 8 } ]"
study rated rates.yaml "[ { $in, shape: ring, size: 4 }, { $out, shape: switch, size: 4 } ]"
cat >dim_keys <<..
!shape: switch, size: 8 | switch, size: 8, planes: 2 | switch, size: 8, nics: 2 | switch, size: 8, in_switch: sharp | ring, size: 6 | full, size: 5 | fat-tree, sizes: [4, 2], taper: 2 | fat-tree, sizes: [4, 2], nics: [ { share: 0.5, nics: 1 }, { share: 0.5, nics: 2 } ] | fat-tree, size: 8, radix: 8, in_switch: sharp, in_switch_min: 4 | torus, sizes: [3, 4] | line, size: 4
!name: out
!tier: Out
!bw_GBps: 50 | 30
!latency_ns: 900 | 20000
latency_per: collective
efficiency: 0.5 | 0.8
all_to_all_efficiency: 0.5
algorithm: auto | ring | direct | halving-doubling | bruck | double-binary-tree
regimes: [ { latency_ns: 300, efficiency: 0.9, up_to_KB: 1000 }, { latency_ns: 900, efficiency: 0.95 } ]
curves: [ { collective: all-reduce, latency_ns: 300, efficiency: 0.7 } ] | [ { collective: all-gather, members: 4, latency_ns: 300, efficiency: 0.7, up_to_KB: 500 }, { collective: all-gather, members: 4, latency_ns: 800, efficiency: 0.8 } ]
..
for model in bandwidth alpha-beta chunk flow; do
    vary sweep two.yaml "'network.dims[1]'" --set split=given --set model=$model <dim_keys
    vary sweep rated.yaml "'network.dims[1]'" --set split=given --set model=$model <dim_keys
done
cat >keys <<..
chunks: 1 | 2 | 7
algorithms: [ auto, auto ] | [ ring, direct ] | [ default, halving-doubling ]
endpoint_ns: 100 | 3000
reduction: memory | free
order: fixed | themis | minmax | guard | given, dims_order: [ out, in ]
queue: fifo | lifo | smallest-first
active_chunks: 1 | 3
semantics: libra | astra-sim-2 | astra-sim-2-aware | physical
route: dimension | shortest | ecmp | detour
links: [ { dim: out, share: 0.5 } ] | [ { from: npu0, to: npu1, share: 0.3 } ]
slow: [ { at: [ 1, 2 ], share: 0.5 } ] | [ { at: [ '*', 0 ], late_us: 30 } ] | [ { at: [ 0, '*' ], dim: out, share: 0.25 } ]
..
for model in alpha-beta chunk flow; do
    vary sweep two.yaml simulation --set split=given --set model=$model <keys
    vary sweep rated.yaml simulation --set split=given --set model=$model <keys
done
vary sweep experts.yaml simulation --set split=given --set model=chunk <keys
cat >system_keys <<..
!step_tokens: 1e6
!npus_per_node: 4 | 8
!checkpoint: { size_GB: 500 } | { size_GB: 90, node_GBps: 1, async: false } | { size_GB: 90, store_GBps: 5, stall_s: 3, interval_s: 900 } | { size_GB: 90, restart_s: 60, over: out, tiers: [ { name: peers, share: 0.9, restart_s: 30, interval_s: 60, stall_s: 1 } ] }
npu_usd: 20000
npu_watt: 500
server_usd: 9000
server_watt: 300
spare_nodes: 1 | 5
repair_h: 100
npu_idle: 0.3
server_idle: 0.5
network_idle: 0.6
life_years: 6
network_life_years: 7
residual: 0.2
rack_kW: 20
items: [ { name: disks, per: node, count: 3, usd: 99, watt: 9, life_years: 3, residual: 0.1, idle: 0.2 }, { name: doors, per: rack, usd: 999, mtbf_h: 5000, takes_npus: 8 } ]
capital_rate: 0.08
support: 0.1
energy_usd_kWh: 0.2
pue: 1.1
load: 0.5
building_usd_W: 20
building_life_years: 30
rent_usd_kW_month: 150
staff_usd_year: 1e6
sold: 0.5
mtbf: { npu_h: 10000, link_h: 3000 } | { node_h: 5000, nic_h: 2000, switch_h: 4000 }
tolerates: { planes: false } | { paths: false, detours: true }
straggler_loss: 0.1
planned_stops_month: 9, planned_stop_h: 3
run_Gtokens: 50
run_steps: 1000
..
vary sweep two.yaml system --set split=given <system_keys
vary sweep rated.yaml system --set split=given --set pricing=fraction <system_keys
vary sweep train.yaml system --set split=given --set 'workload.parallel={ batch: 64, zero: 1, tp: 2 }' <system_keys
for of in text json; do
    for c in explain fail check; do
        of $c train.yaml --set 'workload.parallel={ batch: 64, zero: 1, tp: 2, pp: 2 }' --set model=alpha-beta --set budget.usd=1e6 --of $of
        of $c experts.yaml --set 'workload.parallel={ batch: 64, ep: 8, zero: 1, tp: 2, seq_parallel: true, micro_batch: 2 }' --set budget.usd=1e6 --of $of
    done
done
for m in chunk flow alpha-beta; do
    for q in fifo lifo smallest-first; do
        of sim two.yaml --model $m --timeline t1.csv --set simulation.queue=$q --of json
    done
    of sim experts.yaml --model $m --timeline t1.csv --set 'workload.parallel={ batch: 64, ep: 4, pp: 2, zero: 1 }' --of json
done
of sim rated.yaml --model flow --links t2.csv --of json
of tornado rated.yaml --all --of csv
of tornado train.yaml --all --by time_s,cost_usd --of csv
of diff two.yaml rated.yaml --of json
of diff train.yaml experts.yaml --of json

echo "== splits"
sed 's/bw_GBps: [0-9]*/max_GBps: 400/g; s/^system:/total_GBps: 200\nsystem:/' rated.yaml >free.yaml
sed 's/bw_GBps: [0-9]*/max_GBps: 400/g; s/^system:/total_GBps: 400\nsystem:/' train.yaml >trained.yaml
sed 's/bw_GBps: [0-9]*/max_GBps: 400/g; s/^system:/total_GBps: 400\nsystem:/' two.yaml >whole.yaml
cat >keys <<..
[ in >= 20, 2*in + out <= 300 ]
[ out == 30 ]
[ usd <= 40000 ]
[ in - out >= 10, in + 3*out <= 350 ]
[ in == 2*out ]
[ out <= 5, out >= 6 ]
..
while read -r constraints; do
    for objective in time perf_per_cost cost tco_per_token; do
        of alloc free.yaml --set "constraints=$constraints" --set objective=$objective --set time_limit_s=0.02 --of json
    done
done <keys
cat >keys <<..
[ in >= 120, 2*in + out <= 700 ]
[ out == 150 ]
[ usd <= 900000 ]
[ in == 3*out ]
..
while read -r constraints; do
    for how in "trained time" "trained utilization" "whole time" "whole cost" "whole perf_per_watt"; do
        of alloc ${how% *}.yaml --set "constraints=$constraints" --set objective=${how#* } --set time_limit_s=0.7 --of json
    done
done <keys
for s in free trained whole; do
    sed '/^workload:/d' $s.yaml >several.yaml
    of alloc several.yaml --set 'workloads=[ step.yaml, { workload: { step: { all-to-all: { size_MB: 90, group: all } } }, weight: 3 } ]' --of json
done
for f in configs/studies/libra/*.yaml; do
    for objective in time perf_per_cost utilization; do of alloc "$f" --set objective=$objective --of json; done
done
of sweep free.yaml -j 1 --of csv --set 'vary={ total_GBps: { from: 20, to: 900, points: 40, scale: log }, objective: [ time, perf_per_cost, tco_per_token ] }'
of sweep whole.yaml -j 1 --of csv --set 'vary={ total_GBps: { from: 100, to: 500, step: 25 }, objective: [ time, perf_per_cost, tco_per_token ] }'
of sweep free.yaml -j 1 --of csv --set 'vary={ sobol: { points: 32, keys: { total_GBps: { from: 20, to: 900 }, network.dims.in.efficiency: { from: 0.2, to: 1 } } } }' --set 'keep={ front: [ time_s, cost_usd ] }'
of sweep free.yaml -j 1 --of csv --set 'vary={ total_GBps: [ 100, 300 ] }' --set 'uncertain={ draws: 30, keys: { workload.traffic: { normal: [ 1, 0.2 ] }, network.dims.out.efficiency: { uniform: [ 0.5, 1 ] }, network.npu.usd: { lognormal: [ 9000, 1.3 ] }, system.pue: { triangular: [ 1, 1.1, 1.5 ] } } }'
of sim trained.yaml --search parallelism --split --of json
of sim trained.yaml --search parallelism --set split=given --set network.dims.in.bw_GBps=100 --set network.dims.out.bw_GBps=50 --of csv
of sim experts.yaml --search parallelism --set 'workload.parallel={ batch: 64, ep: 4 }' --of csv
of alloc whole.yaml --set 'workload={ model: model.yaml, parallel: { batch: 64 }, search: { tp: [1, 4], pp: [1, 2], cp: [1], zero: [0, 1], micro_batch: [1, 2], top: 5 } }' --of json

echo "== graphs, files of others, networks"
cat >links.csv <<..
src,dst,bw_GBps,latency_ns,class,usd
a,b,25,100,near,50
c,d,25,100,near,50
e,f,25,100,near,50
a,switch-0,50,300,far,400
b,switch-0,50,300,far,400
c,switch-0,50,300,far,400
d,switch-1,50,300,far,400
e,switch-1,50,300,far,400
f,switch-1,50,300,far,400
switch-0,switch-1,100,200,up,900
..
cat >wires.yaml <<..
network:
  parts: rates.yaml
  graph: links.csv
  classes: [ { name: near, size: 2, tier: In, max_GBps: 400 }, { name: far, size: 3, tier: Out, max_GBps: 500 }, { name: up, tier: Out, max_GBps: 300, efficiency: 0.9 } ]
workload: { step: { sum: [ { all-reduce: { size_MB: 100, group: all } }, { all-to-all: { size_MB: 9, group: all } } ] } }
..
of topo fly.yaml --graphml g.graphml --of csv
of topo g.graphml --of json
of topo links.csv --of json
of topo links.csv
of explain wires.yaml --set 'network.classes=[ { name: near, tier: In, bw_GBps: 30 }, { name: far, tier: Out, bw_GBps: 60 }, { name: up, tier: Out, bw_GBps: 90 } ]' --of json
for constraints in '[ total == 150 ]' '[ near >= 40, total <= 300 ]' '[ usd <= 9000 ]'; do
    of alloc wires.yaml --set "constraints=$constraints" --of json
    of alloc wires.yaml --set "constraints=$constraints" --set objective=perf_per_cost
done
sed '/^system/,/items/d' rated.yaml >plain.yaml
for route in shortest ecmp; do
    of sim plain.yaml --model flow --set "simulation={ route: $route, graph: links.csv }" --set 'network={ dims: [ { tier: In, shape: ring, size: 2, bw_GBps: 50 }, { tier: Out, shape: switch, size: 3, bw_GBps: 20 } ] }' --set 'workload={ step: { sum: [ { all-reduce: { size_MB: 10, group: all } }, { all-to-all: { size_MB: 9, group: all } } ] } }' --set parts=rates.yaml --of json
done
printf 'HYBRID_TRANSFORMER_FWD_IN_BCKWD model_parallel_NPU_group: 2 ep: 2 pp: 1 vpp: 1 ga: 2 all_gpus: 8 checkpoints: 0 checkpoint_initiates: 0 pp_comm: 0\n3\n' >simai.txt
printf '%s\t-1\t%d\t%s\t%d\t%d\t%s\t%d\t%d\t%s\t%d\t100\n' attn 1000 ALLREDUCE 4096000 1500 ALLREDUCE 4096000 500 NONE 0 moe 2000 ALLTOALL_EP 900000 700 ALLTOALL_EP 800000 300 ALLGATHER_DP_EP 500000 out 90 ALLGATHER 70000 1000 REDUCESCATTER 600000 500 ALLREDUCE 8192 >>simai.txt
cp tests/data/astra_transformer.txt astra.txt
for w in '{ simai: simai.txt }' '{ simai: simai.txt, ag_size: shard }' '{ astra: astra.txt }' '{ astra: astra.txt, loop: overlap }' '{ astra: astra.txt, recompute: forward }'; do
    case $w in *simai*) net="ring:2@100 switch:4@50" ;; *) net="ring:4@100 switch:8@50" ;; esac
    of explain plain.yaml --set "network=$net" --set "workload=$w" --of json
done
for n in configs/networks/*.yaml; do of topo $n --of json; done

echo "== clusters"
cat >slots.yaml <<..
network: "ring:4@100 switch:4@50"
model: slots
slots: 16
servers: { gpu: 4, cpu: 16, memory_GB: 64 }
jobs: { count: 8, zeta: [ 60, 120 ], hop_GBps: 0.25 }
seeds: 2
seed: 3
..
cat >batch.yaml <<..
network: "switch:8@100 switch:4@5"
model: batch
jobs: { sizes: [ [ 1, 4 ], [ 2, 3 ], [ 4, 2 ], [ 8, 2 ] ], iteration_s: 0.02, iterations: 5000, run_s: 100 }
seeds: 2
..
cat >trace.csv <<..
job_id,submit_s,gpus,runtime_s,status,model,iters,grad_bytes,batch,ps,workers,priority,synthetic
$(awk 'BEGIN { x = 7; for (i = 0; i < 60; i++) { x = x * 16807 % 2147483647; t += x % 40; print "j" i "," t "," 2 ^ (x % 4) "," 20 + x % 300 ",pass,," 20 + x % 90 "," 1e8 * (1 + x % 30) ",,,,," } }')
..
cat >events.yaml <<..
model: events
network: "switch:4@100 switch:4@5"
jobs: { trace: trace.csv }
..
cat >interval.yaml <<..
model: interval
jobs: { count: 12 }
pool: { units: 1 }
seeds: 2
..
tables="--runs t1.csv --jobs t2.csv --places t3.csv --slots t4.csv --links t5.csv"
n=10
vary place slots.yaml jobs $tables <<..
!count: 5 | 9
!zeta: [ 60, 120 ]
!hop_GBps: 0.25
arrivals: at-once | uniform | poisson
workers: 3 | [ 1, 4 ]
iterations: [ 50, 200 ]
zeta_scale: 2
progress: tau, tau: { gradient_MB: 100, reduce_GBps: 50, forward_ms: 1, samples: 32, backward_ms: 50, slot_s: 2 }
utility: linear | sqrt | log | sigmoid | sigmoid-env
scale: 3
slope: 0.3
middle: [ 3, 6 ]
leave_frac: 0.3
budget: literal
gpus: 2
demand: { cpu: [ 1, 3 ], memory_GB: 9 } | { memory_GB: [ 4, 20 ] }
..
vary place slots.yaml gadget $tables --set 'schedulers=[ gadget ]' <<..
samples: 3 | 20
rounding: strict | paper
reoffer: false | true
pricing: auto | generic
..
vary place batch.yaml sjf_bco $tables --set 'schedulers=[ sjf-bco ]' <<..
kappa: 1 | 4
theta_max: 60 | 5000
more_limits: 3
lambda: 0.5 | 1
u: 1.2
l: 0.8
ff_limit: 2
slot_s: 0.5
whole_iterations: true
literal_pack: true
literal_load: true
literal_bisect: true
..
of place batch.yaml -j 1 $tables --of csv
n=6
vary place events.yaml events $tables --set 'schedulers=[ fifo, fifo+first-fit, fifo+spread, fifo+topology, fifo+random, sjf, srtf+topology, las, drf+spread ]' <<..
horizon_s: 2000
overhead_s: 5
backfill: true
las_queues: 3
las_at: [ 100 ]
round_s: 60
contention: none | shared
duty: always | interleaved
inner_GBps: 50
reduce_GBps: 20
..
of place events.yaml -j 1 $tables --of csv
of place events.yaml -j 1 $tables --set jobs.length=iterations --set events.contention=shared --of csv
n=8
vary place interval.yaml smd $tables <<..
inner: grid | exact
eps: 0.1 | 0.3
m_delta: one | literal
delta: 0.2
tries: 3
keep: best | first
knapsack: exact | subset
subset: 2
baselines: knapsack | first-come | best-first
esw: largest | best
..
vary place interval.yaml jobs $tables <<..
!count: 8 | 14
training: sync | async
layer_times: mean | sum
overlap: sequential | wait_free | priority | lemma2
vcpu: 8
gpu: 4
memory_GB: 15
real_factor: true
..

n=8
sed '/^network/d; s/^servers:.*/racks: { servers: 5 }/' slots.yaml >racks.yaml
vary place racks.yaml racks $tables --set 'schedulers=[ gadget, las ]' <<..
!servers: 5 | 8
racks: 2 | [ 2, 3 ]
gpus: [ 2, 4 ]
total_gpus: 24
server_GBps: [ 1, 3 ]
rack_GBps: 40
link_scale: 0.5
latency_ns: 900
..
vary place batch.yaml jobs $tables <<..
!sizes: [ [ 1, 4 ], [ 2, 3 ], [ 4, 2 ] ] | [ [ 2, 5 ], [ 8, 2 ] ]
iterations: [ 300, 900 ]
iteration_s: [ 0.01, 0.2 ]
run_s: [ 20, 90 ]
comm_frac: 0.5
server_frac: 0.1
inner_ratio: 9
share_frac: 0.9
alpha: 0.1
..
vary place events.yaml jobs $tables --set 'schedulers=[ fifo, las, srtf+spread ]' <<..
!trace: trace.csv | trace.csv, count: 20 | trace.csv, start: 5, count: 30
!length: runtime | iterations
max_gpus: 4
horizon_s: 900
rate: 2
overlap_frac: 0.5
..
sed 's/trace: trace.csv/count: 30, jobs_per_h: 90/' events.yaml >drawn_jobs.yaml
while read -r profile; do
    echo "$profile" >profile.yaml
    of place drawn_jobs.yaml -j 1 $tables --set jobs.profile=profile.yaml --set 'schedulers=[ fifo, sjf ]' --of csv
done <<..
{ gpus: { from: 1, to: 16, log: true }, iters: { from: 50, to: 400 }, iter_ms: { from: 100, to: 900 }, grad_MB: { from: 1, to: 500 } }
{ gpus: { values: [ 1, 4, 8 ], weights: [ 5, 2, 1 ] }, gpus_per_worker: 2, iters: 90, iter_ms: 200, models: [ { name: small, weight: 3, grad_MB: 20, batch: 8, iter_ms: 90 }, { name: large, grad_MB: 900 } ], priority: { from: 1, to: 5 } }
..
"$WEFT" place slots.yaml -q -j 1 --store place.db >/dev/null 2>&1
"$WEFT" place slots.yaml -q -j 1 --store 1.db --shard 1/2 --runs runs.csv >/dev/null 2>&1
"$WEFT" place slots.yaml -q -j 1 --store 2.db --shard 2/2 --runs runs2.csv >/dev/null 2>&1
of merge both.db 1.db 2.db
of export place.db --of csv
"$WEFT" place slots.yaml -q -j 1 --store place2.db --runs r.csv --jobs j.csv >/dev/null 2>&1
for table in runs jobs; do of export place2.db --table $table --of csv --where scheduler=drf; done
of export both.db --table runs --of json
of export both.db --where scheduler=las

echo "== layers on types"
cat >measured.yaml <<..
layers:
  - { name: emb, kind: embedding, in_B: 4000, out_B: 32000, weight_MB: 640, sparse_B: 64000, compute_ms: { cpu: 31, v100: 4 }, comm_ms: { cpu: 3, v100: 200 } }
  - { name: fc1, kind: fc, in_B: 32000, out_B: 4096, weight_MB: 32, compute_ms: { cpu: 9000, v100: 28 }, comm_ms: { cpu: 30, v100: 5 }, handover_ms: { cpu: 1, v100: 1 } }
  - { name: fc2, kind: fc, in_B: 4096, out_B: 4, weight_MB: 4, compute_ms: { cpu: 900, v100: 3 }, comm_ms: { cpu: 3, v100: 1 } }
types:
  - { name: cpu, cpu: true, usd_per_h: 0.04, max_units: 256, compute_parallel: 0.97, comm_parallel: 0.95 }
  - { name: v100, usd_per_h: 2.42, max_units: 64, probe: { units: 8, compute_ratio: 0.13, comm_ratio: 0.2 }, host: cpu, host_units: 6 }
batch: 4096
job: { examples_M: 1000, epochs: 2 }
seeds: 1
evaluations: 60
..
cat >drawn.yaml <<..
model: nce
draw: { types: 3 }
job: { examples_M: 100 }
throughput: { share: 0.5 }
schedulers: [ oracle, exact, brute-force, rl-lstm, rl-rnn, greedy, genetic, bayes, anneal, random, random-stages, heuristic, gpu-only, cpu-only, random+local ]
evaluations: 100
rl: { rounds: 4, plans: 8, patience: 1 }
bayes: { initial: 5, evaluations: 12, candidates: 30 }
seeds: 2
seed: 101
..
tables="--runs t1.csv --plans t2.csv --stages t3.csv --curves t4.csv"
for set in draw.types=4 model=ctrdnn model=2emb throughput.share=0.9 overlap=false handover=stage provisioning=balance provisioning=newton rl.best_frac=1 rl.gamma=0.9 genetic.elite=3 anneal.hot=3; do
    of hetero drawn.yaml -j 1 $tables --set $set --of csv
done
n=8
vary hetero drawn.yaml draw.gpu --set 'schedulers=[ oracle, greedy ]' <<..
peak_GFLOPS: 900
memory_GBps: 90
lookup_GBps: 9
net_GBps: 30
usd_per_h: 5
compute_parallel: 0.8
comm_parallel: 0.7
max_units: 40
..
for set in overlap=false throughput.per_s=100000 'throughput={ share: 0.4, of: gpu-only }' 'servers={ type: cpu, GBps: 1 }' types.v100.max_units=20 'types.v100={ name: v100, usd_per_h: 2, compute_parallel: 0.9, comm_parallel: 0.8, nic_GBps: 2 }' handover=layer; do
    of hetero measured.yaml -j 1 $tables --set "$set" --of json
done

echo "== little communication"
cat >gossip.yaml <<..
network: switch:4@0.001
learner: { hidden: 8, batch: 16, epochs: 1 }
data: { train: 256, test: 64, features: 8, classes: 4, hidden: 8 }
methods: [ pair, { method: local, period: 8 }, diloco, lag-wk, sparq ]
seeds: 1
seed: 11
..
tables="--runs t1.csv --curves t2.csv --links t3.csv"
of gossip gossip.yaml -j 1 $tables --of csv --set 'methods=[ all-reduce, local, post-local, pair, pull, push, gosgd, elastic, gossip-pga, gossip-aga, eventgrad, sparq, diloco, adacomm, variance, dynamic, lag-wk, lag-ps ]'
of gossip gossip.yaml -j 1 $tables --of csv --set 'methods=[ { method: pair, rule: drift, theta: 0.02, cap: 9, check: 2 }, { method: pair, rule: control, theta: 0.02, mix: 0.3 }, { method: pair, rule: rate-drift, theta: 1 }, { method: gosgd, prob: 0.4 }, { method: elastic, alpha: 0.1, period: 3 }, { method: eventgrad, horizon: 0.9, warmup: 3 }, { method: sparq, sparq_c: 1, sparq_power: 0.5, gamma: 0.3, keep: 0.25 }, { method: diloco, period: 4, fragments: 2, delay: 1, outer_rate: 0.5, outer_momentum: 0.5, outer_mix: 0.3, inner: adamw, inner_rate: 0.01 }, { method: dynamic, delta: 0.01 }, { method: lag-wk, lag_xi: 0.5, lag_depth: 3 }, { method: lag-ps, lag_smooth: 5 }, { method: gossip-pga, period: 4, graph: exponential }, { method: gossip-aga, period: 2, power: 0.5 }, { method: adacomm, period: 8, interval_s: 0.1 }, { method: post-local, switch_frac: 0.3, period: 4 } ]'
vary gossip gossip.yaml learner $tables --set 'methods=[ pair, { method: local, period: 8 }, diloco ]' <<..
!hidden: 8 | [ 6, 5 ] | []
!epochs: 1
batch: 8 | 32
optimizer: sgd | adamw
rate: 0.01 | 0.3
momentum: 0.5
weight_decay: 0.001
schedule: steps | constant | cosine
decay: 0.5, decay_at: [ 0.3, 0.6 ]
..
vary gossip gossip.yaml clock $tables <<..
step_ms: 2 | 30
jitter: 0 | 0.5
slow_workers: 1, slowdown: 3
pause_prob: 0.1, pause_factor: 5
overlap: true
stale: false
..
for set in rung=flow shards=label-skew drift_at=0.5 endpoint_ns=5000 chunks=2 model_MB=3 compare=averaged need_pct=20 'network=ring:2@0.01 switch:3@0.001' 'data={ train: 200, test: 60, features: 5, classes: 3, noise: 0.2, gain: 3 }'; do
    of gossip gossip.yaml -j 1 $tables --set "$set" --of json
done
of gossip gossip.yaml -j 1 --set 'vary={ workers: [ 2, 4 ] }' --set 'methods=[ pair, all-reduce ]'

echo "== pages and columns"
of sweep free.yaml -j 1 --set 'vary={ total_GBps: [ 100, 200, 400 ], objective: [ time, cost ] }' --set time_limit_s=0.004
of sweep trained.yaml -j 1 --set 'vary={ workload.parallel: [ { batch: 64, tp: 2, zero: 1 }, { batch: 64, pp: 4, tp: 2, recompute: full } ] }'
of place slots.yaml -j 1 --set 'vary={ jobs.count: [ 4, 8 ] }'
of place batch.yaml -j 1
of place events.yaml -j 1
of place interval.yaml -j 1
of hetero drawn.yaml -j 1 --set 'vary={ throughput.share: [ 0.2, 0.8 ] }'
of hetero measured.yaml -j 1
of gossip gossip.yaml -j 1
for c in sweep place hetero gossip; do
    of $c --columns
    of $c --columns --of csv
    of $c nosuch.yaml
done
for s in train experts rated; do
    for m in bandwidth alpha-beta all; do of sim $s.yaml --model $m; done
done
for s in trained free whole; do of alloc $s.yaml; done
of diff two.yaml rated.yaml
of diff train.yaml experts.yaml
of tornado rated.yaml --all
of check rated.yaml --set 'budget={ usd: 1e6, watt: 1e5, nics: 64, nic_GBps: 60, time_s: 0.01, site_MW: 1, usd_year: 1e6, usd_per_Mtoken: 1 }'

echo "== tables and figures"
sed '/^system/,/items/d' free.yaml >bare.yaml
"$WEFT" sweep bare.yaml -q -j 1 --set 'vary={ total_GBps: [ 100, 200, 300, 500 ], objective: [ time, perf_per_cost ], network: [ { name: a, parts: rates.yaml, dims: [ { name: in, tier: In, shape: ring, size: 4 }, { name: out, tier: Out, shape: switch, size: 8 } ] }, { name: b, parts: rates.yaml, dims: [ { name: in, tier: In, shape: full, size: 4 }, { name: mid, tier: In, shape: ring, size: 2 }, { name: out, tier: Out, shape: switch, size: 4 } ] } ] }' -o s.csv
"$WEFT" sweep trained.yaml -q -j 1 --set 'vary={ workload.parallel: [ { batch: 64, tp: 2, zero: 1 }, { batch: 64, tp: 4 }, { batch: 64, pp: 2, zero: 1 }, { batch: 64, pp: 4, tp: 2, recompute: full }, { batch: 64, cp: 2, tp: 4 } ], total_GBps: [ 100, 300 ] }' -o p.csv
"$WEFT" sweep free.yaml -q -j 1 --set 'vary={ total_GBps: { from: 50, to: 600, points: 12 }, network.dims.in.efficiency: [ 0.4, 0.7, 1 ] }' --set 'uncertain={ draws: 9, keys: { workload.traffic: { normal: [ 1, 0.2 ] } } }' --store s.db -o u.csv
"$WEFT" sim two.yaml --model chunk -q --timeline line.csv >out
"$WEFT" front u.csv -q --of csv -o front.csv
"$WEFT" tornado rated.yaml --all -q --of csv -o tornado.csv
"$WEFT" place slots.yaml -q -j 1 --set 'vary={ jobs.count: [ 4, 8 ], slots: [ 12, 20 ] }' -o slots.csv --places places.csv --links slinks.csv --jobs jobs.csv
"$WEFT" place events.yaml -q -j 1 --set 'schedulers=[ fifo, las, srtf+topology ]' -o events.csv --places eplaces.csv --links elinks.csv
"$WEFT" hetero drawn.yaml -q -j 1 -o hetero.csv --plans layers.csv --curves curves.csv
"$WEFT" gossip gossip.yaml -q -j 1 --set 'vary={ workers: [ 2, 4 ] }' --set 'methods=[ pair, all-reduce, { method: local, period: [ 2, 8 ] } ]' --set need_pct=20 -o gossip.csv --curves loss.csv
while read -r words; do
    of $words --of csv
    of $words
done <<..
front s.csv
front s.csv --per objective,network --by time_s,cost_usd,max:speedup
front s.csv --where objective=time --limit total_GBps<=300 --behind 3
front s.csv --design 5
front s.csv --at time_s=0.003,cost_usd=30000
front u.csv --by time_s,nic_GBps --per network
front p.csv --by time_s,memory_GB --limit memory_GB<=40
front s.db --behind 9
export s.db
export s.db --where point=3 --where point=7
export s.db --where total_GBps=100
..
for f in speedup cost perf_per_cost split time utilization pareto nic; do of plot $f s.csv --of gp; done
for f in time breakdown mfu plans pareto; do of plot $f p.csv --of gp; done
for f in front:front tornado:tornado timeline:line place:slots embedded:slots makespan:events gantt:places gantt:eplaces links:slinks links:elinks hetero:hetero learning:curves strip:layers gossip:gossip gossip_need:gossip gossip_loss:loss speedup:u cost:u pareto:u; do
    of plot "${f%:*}" "${f#*:}.csv" --of gp
    of plot "${f%:*}" "${f#*:}.csv" --of gp --width 700 --height 900
done
while read -r words; do of plot xy $words --of gp; done <<..
s.csv --x total_GBps --y time_s
s.csv --x total_GBps --y time_s --join --color objective --shape network
s.csv --x cost_usd --y time_s --front min,min --label knee --log xy
s.csv --x cost_usd --y speedup --color total_GBps --facet network --shared
s.csv --x network --y time_s --bars --color objective
s.csv --x objective --y cost_usd --bars --facet network --log y
s.csv --x total_GBps --y time_s --y cost_usd --join --facet objective --color network
s.csv --x total_GBps --y speedup --facet network --facet-rows objective --label top --top 2 --behind
s.csv --x cost_usd --y time_s --limit total_GBps<=300 --range-y 0.001:0.01 --linear --x-label money
s.csv --x nic_GBps --y speedup --label total_GBps --text network,objective --best max:speedup --top 3
p.csv --x memory_GB --y time_s --color tp --shape pp --front min,min --label front
p.csv --x tokens_per_s --y mfu --color total_GBps --where tp=2 --where tp=4 --range-x 0:
u.csv --x total_GBps --y time_s --join --color network.dims.in.efficiency
u.csv --x total_GBps --y time_p90_s --y time_p10_s --front min,min,max
jobs.csv --x submit --y progress --color scheduler
slots.csv --x jobs.count --y utility --join --color scheduler --facet slots
hetero.csv --x scheduler --y usd --bars
loss.csv --x time_s --y loss --color method --join
..
for t in "helios helios.csv" "philly philly.json" "pollux pollux.csv" "acme acme_kalos.csv" "acme acme_seren.csv" "swf log.swf" "openb openb.csv" "tiresias tiresias.csv" "gavel gavel.trace" "csv canonical.csv" "pai pai" "google google"; do
    of import --trace ${t% *} tests/traces/${t#* }
done
for noise in 0 1 3; do
    for kind in all-reduce all-gather all-to-all; do
        awk -v noise=$noise -v x=$((noise * 77 + 5)) 'BEGIN {
            print "bytes,time_us"
            for (k = 0; k < 16; k++) {
                b = 1024 * 4 ^ (k / 1.7); x = x * 16807 % 2147483647
                t = b < 1e6 ? 12 + b / 20e3 : 40 + b / 90e3
                printf "%d,%.4f\n", b, t * (1 + noise * (x / 2147483647 - 0.5) / 50)
            } }' >bench.csv
        of calibrate bench.csv --collective $kind --ranks 8 --of json
        of calibrate bench.csv --collective $kind --ranks 8 --regimes 1 --bw-GBps 100
    done
done

echo "== splits under drawn constraints"
# splits STUDY N OPTION..: alloc in full for each of $objectives and N lists of constraints on $dims; most can be satisfied
splits() {
    study=$1
    seed=$((seed + 1))
    awk -v n="$2" -v dims="$dims" -v sense="$sense" -v usd="$usd" -v x="$((seed * 7919))" '
        function below(n) { x = x * 16807 % 2147483647; return int(x / 2147483647 * n) }
        function row(  d, text, at, by, sign) {
            for (d = 1; d <= n_dims; d++)
                if (below(3) || (d == n_dims && text == "")) {
                    sign = text != "" && !below(4) ? "-" : "+"
                    by = 1 + below(4)
                    at += (sign by) * bw[d]
                    text = text (text == "" ? "" : " " sign " ") by "*" dim[d]
                }
            return text (below(2) ? " <= " int(at + below(9) * 10) : " >= " int(at - below(9) * 10))
        }
        BEGIN {
            n_dims = split(dims, dim, " ")
            for (i = 0; i < n; i++) {
                rows = total = ""
                for (d = 1; d <= n_dims; d++) total += bw[d] = 20 + below(180)
                for (k = below(4); k > 0; k--) rows = rows ", " row()
                if (below(4)) rows = rows ", total " (below(2) ? "<= " : sense " ") total
                if (!below(3)) rows = rows ", usd <= " int(usd * (8 + below(9)) / 10)
                print (i ? ", " : "") "[ " substr(rows, 3) " ]"
            }
        }' | tr '\n' ' ' >rows
    shift 2
    { "$WEFT" alloc "$study" --of json --set "vary={ constraints: [ $(cat rows) ], objective: [ $objectives ] }" --set time_limit_s=0.03 "$@" 2>&1; echo "exit $?"; } >out
    say alloc "$study" "$@"
}
npu='peak_TFLOPS: 100, mem_GB: 80, usd: 9000, watt: 700'
sed 's/\(_usd_per_GBps: \).*, switch.*/\120, switch_usd_per_GBps: 30, nic_usd_per_GBps: 40 }/' rates.yaml >flat.yaml
four="[ { name: a, tier: In, shape: ring, size: 4, max_GBps: 900 }, { name: b, tier: In, shape: full, size: 3, max_GBps: 500, min_GBps: 5 }, { name: c, tier: Out, shape: fat-tree, sizes: [ 4, 2 ], max_GBps: 300 }, { name: d, tier: Out, shape: switch, size: 2 } ]"
for parts in parts rates flat; do study "four_$parts" $parts.yaml "$four"; done
sed 's/bw_GBps: [0-9]*/max_GBps: 400/g' two.yaml >open.yaml
sed 's/bw_GBps: [0-9]*/max_GBps: 400/g' train.yaml >open_train.yaml
all="workload={ step: { sum: [ { all-reduce: { size_MB: 30, group: all } }, { all-to-all: { size_MB: 9, group: all } } ] } }"
hidden="workload={ step: { max: [ { compute_ms: 9 }, { sum: [ { all-reduce: { size_MB: 90, group: all } }, { all-gather: { size_MB: 9, group: all } } ] } ] } }"
two="workloads=[ step.yaml, { workload: { step: { all-to-all: { size_MB: 90, group: all } } }, weight: 3 } ]"
objectives="time, cost, utilization, perf_per_cost, tco_per_token"
dims="a b c d" usd=600000 sense="=="
for workload in "$all" "$hidden"; do
    for parts in rates flat; do splits four_$parts.yaml 60 --set "$workload"; done
done
sed '/^workload:/d' four_flat.yaml >four_two.yaml
splits four_two.yaml 60 --set "$two"
objectives="time, cost, utilization, perf_per_watt, tco_per_token"
splits four_parts.yaml 60 --set pricing=fraction
dims="in out" usd=400000
splits open.yaml 60 --set pricing=fraction --set "$hidden"
sense=">="
splits open.yaml 60
splits open.yaml 60 --set "$hidden"
splits open_train.yaml 30 --set time_limit_s=0.7
dims="a b c d" usd=600000
splits four_parts.yaml 12
splits four_parts.yaml 12 --set "$hidden"

echo "== drawn plans, dimensions, machines: whole answers"
n=50
vary alloc train.yaml workload.parallel --set split=given --set model=alpha-beta <plan_keys
vary alloc train.yaml workload.parallel --set split=given <plan_keys
vary alloc experts.yaml workload.parallel --set split=given <ep_keys
vary alloc experts.yaml workload.parallel --set split=given --set model=alpha-beta <ep_keys
vary alloc two.yaml "'network.dims[1]'" --set split=given --set model=alpha-beta <dim_keys
sed 's/out/in/; s/Out/In/' dim_keys >in_keys
vary alloc rated.yaml "'network.dims[0]'" --set split=given --set model=alpha-beta <in_keys
vary alloc two.yaml system --set split=given <system_keys
vary alloc train.yaml system --set split=given --set 'workload.parallel={ batch: 64, zero: 1, tp: 2 }' <system_keys

echo "== drawn figures"
for i in $(seq 80); do
    awk -v x=$((i * 7919)) '
        function below(n) { x = x * 16807 % 2147483647; return int(x / 2147483647 * n) }
        function one(s,  v, n) { n = split(s, v, "|"); return v[1 + below(n)] }
        BEGIN {
            for (k = 0; k < 5; k++) below(2)
            table = one("s.csv|p.csv|u.csv")
            numbers = "total_GBps|time_s|cost_usd|speedup|nic_GBps"
            words = table == "s.csv" ? "objective|network" : table == "p.csv" ? "tp|pp|zero|recompute" : "network.dims.in.efficiency|objective"
            bars = table == "s.csv" && !below(4)
            both = below(4)
            printf "%s --x %s --y %s", table, one(bars ? words : below(4) ? numbers : words), one(numbers)
            if (both == 0) printf " --y %s", one(numbers)
            if (both == 1) printf " --facet-rows %s", one(words)
            if (below(2)) printf " --color %s", one(below(3) || bars ? words : numbers)
            if (!bars && !below(3)) printf " --shape %s", one(words)
            if (!below(3)) printf " --facet %s%s", one(words), one("| --shared")
            if (!bars && !below(3)) printf " --front %s", one("min,min|min,max|max,min|no")
            if (bars || !below(4)) printf " %s", bars ? "--bars" : one("--join|--behind")
            if (!bars && below(2)) printf " --label %s", one("knee|front|top|" words)
            if (!bars && !below(4)) printf " --text %s", one(words)
            if (!below(4)) printf " --top %d --best %s", 1 + below(4), one("min:time_s|max:speedup|min:cost_usd")
            if (!below(3)) printf " %s", one(bars ? "--log y|--linear" : "--log x|--log y|--log xy|--linear")
            if (!below(5)) printf " --limit total_GBps<=%d", 150 + below(300)
            if (!bars && !below(5)) printf " --range-x %d:", below(200)
            if (!below(3)) printf " --width %d --height %d", 300 + below(900), 340 + below(700)
            print " --of " one("svg|gp")
        }' >drawn_words
    read -r words <drawn_words
    of plot xy $words
done

echo "== drawn studies and fronts"
for i in $(seq 48); do
    awk -v x=$((i * 7919 + 3)) '
        function below(n) { x = x * 16807 % 2147483647; return int(x / 2147483647 * n) }
        function one(s,  v, n) { n = split(s, v, "|"); return v[1 + below(n)] }
        function best(s) { return one("|min:|max:") one(s) }
        BEGIN {
            for (k = 0; k < 5; k++) below(2)
            numbers = "time_s|cost_usd|total_GBps|nic_GBps|speedup"
            total = one("{ from: 20, to: 400, points: 9, scale: log }|{ from: 50, to: 300, step: 25 }|[ 30, 60, 90, 400 ]")
            efficiency = one("{ from: 0.2, to: 1, points: 5 }|[ 0.4, 0.8 ]")
            objective = "objective: " one("[ time ]|[ time, perf_per_cost ]|[ cost, utilization ]")
            both = one("{ zip: { total_GBps: [ 50, 100, 200 ], network.dims.in.efficiency: [ 1, 0.5, 0.8 ] }, " objective " }" \
                "|{ sobol: { points: 16, keys: { total_GBps: { from: 20, to: 900, scale: log }, network.dims.out.efficiency: { from: 0.2, to: 1 } } }, " objective " }" \
                "|{ union: [ { total_GBps: [ 40, 80 ] }, { total_GBps: [ 100 ], network.dims.in.efficiency: " efficiency " } ], " objective " }" \
                "|{ total_GBps: " total ", network.dims.in.efficiency: " efficiency ", " objective " }" \
                "|{ total_GBps: " total ", " objective " }")
            print both
            keep = ""
            if (below(3)) keep = keep ", front: [ " best(numbers) ", " best("comm_s|exposed1_s|util1") one("|, " best("perf_per_cost_gain|equal_cost_usd")) " ]"
            if (below(3)) keep = keep ", top: { n: " 1 + below(6) ", by: " best(numbers) " }"
            if (keep != "" && !below(3)) keep = keep ", per: [ " one("objective|workload|network") " ]"
            if (keep == "" || below(2)) keep = keep ", where: [ cost_usd <= " 10000 + below(40000) ", " one("time_s <= 0.02|nic_GBps >= 20|2*total_GBps - nic_GBps <= 500") " ]"
            print "keep={ " substr(keep, 3) " }"
            print below(3) ? "where=[]" : "where=[ total_GBps <= " 100 + below(300) " ]"
            print "--of " one("csv|json|text|csv --shard 2/3")
            first = one(numbers)
            second = one("comm_s|exposed1_s|util1")
            print one("s.csv|u.csv|p.csv") " --by " one("|min:|max:") first "," one("|min:|max:") second \
                " --per " one("objective|workload|network") one("| --limit total_GBps<=" 90 + below(300)) \
                one("| --design " below(12) "| --at " first "=0." 1 + below(9) "," second "=0." 1 + below(9)) one("| --behind " 1 + below(9)) \
                " --of " one("text|csv|json")
        }' >drawn_words
    { read -r vary; read -r keep; read -r where; read -r options; read -r front; } <drawn_words
    of sweep bare.yaml -q -j 1 --set "vary=$vary" --set "$keep" --set "$where" --set time_limit_s=0.02 $options
    of front $front
done

echo "== drawn clusters"
n=24
tables="--runs t1.csv --jobs t2.csv --places t3.csv --slots t4.csv --links t5.csv"
vary place events.yaml events $tables --set 'schedulers=[ fifo, fifo+first-fit, fifo+topology, sjf, srtf+topology, las, drf+spread ]' --set jobs.length=iterations <<..
horizon_s: 2000
overhead_s: 5
backfill: true
las_queues: 3 | 2
las_at: [ 100 ] | [ 30, 400 ]
round_s: 60 | 10
!contention: shared | none
duty: always | interleaved
inner_GBps: 50
reduce_GBps: 20 | 3
..
vary place batch.yaml jobs $tables <<..
!sizes: [ [ 1, 4 ], [ 2, 3 ], [ 4, 2 ] ] | [ [ 2, 5 ], [ 8, 2 ] ] | [ [ 3, 4 ], [ 5, 2 ] ]
iterations: [ 300, 900 ]
iteration_s: [ 0.01, 0.2 ]
run_s: [ 20, 90 ]
comm_frac: 0.5
server_frac: 0.1
inner_ratio: 9
share_frac: 0.9 | 0.2
alpha: 0.1 | 0.4
..
n=12
vary place interval.yaml jobs $tables --set smd.inner=exact <<..
!count: 6 | 10
training: sync | async
layer_times: mean | sum
overlap: sequential | wait_free | priority | lemma2
vcpu: 8
gpu: 4 | 2
memory_GB: 15
real_factor: true
..
tables="--runs t1.csv --plans t2.csv --stages t3.csv --curves t4.csv"
vary hetero drawn.yaml draw $tables --set 'schedulers=[ oracle, greedy, genetic, heuristic, random+local ]' --set evaluations=40 <<..
!types: 2 | 3 | 4 | 5
..

echo "== drawn models under drawn plans"
seed=$((seed + 1))
draws 16 0.3 <model_keys | tr '\n' ' ' >models
seed=$((seed + 1))
sed 's/ | 8, node_limit: 2//' ep_keys | sed 's/^!batch:.*/!batch: 256/; s/^!ep:/ep:/' >cross_keys
draws 24 0.3 <cross_keys | tr '\n' ' ' >plans
for model in bandwidth alpha-beta; do
    { "$WEFT" alloc train.yaml -q --of json --set split=given --set model=$model --set "vary={ workload.model: [ $(cat models) ], workload.parallel: [ $(cat plans) ] }" 2>&1; echo "exit $?"; } >out
    say alloc train.yaml models and plans $model
done

echo "== mixes of jobs, and what to buy for them"
cat >small.yaml <<..
{ name: small, layers: 8, hidden: 2048, heads: 16, kv_heads: 8, ffn: 8192, seq: 2048, vocab: 32000, activation: swiglu }
..
cat >mix.yaml <<..
name: mix
model: events
network:
  npu: { peak_TFLOPS: 989, mem_GBps: 3350, mem_GB: 80, usd: 30000, watt: 700, host_GBps: 40 }
  parts: parts.yaml
  dims:
    - { name: node, shape: switch, size: 4, bw_GBps: 200, tier: In, latency_ns: 500 }
    - { name: pod, shape: fat-tree, sizes: [ 2, 4 ], taper: 2, max_GBps: 100, tier: Out, latency_ns: 900 }
pricing: whole
server: node
system: { npu_usd: 30000, npu_watt: 700, checkpoint: { size_GB: 10 } }
jobs:
  mix:
    - { name: tall, model: small.yaml, gpus: 16, parallel: { tp: 4, batch: 64 }, steps: 1000, share: 1 }
    - { name: wide, model: small.yaml, gpus: 8, parallel: { batch: 32, zero: 3 }, tokens: 1e8, share: 4 }
    - { name: ring, workload: { step: { sum: [ { compute_ms: 10 }, { all-reduce: { size_MB: 100, group: all } } ] } }, gpus: 4, steps: 20000, share: 2 }
  count: 20
  jobs_per_h: 200
schedulers: [ fifo+topology ]
seeds: 2
..
sed 's/max_GBps: 100/bw_GBps: 50/; /^pricing/d' mix.yaml >jobs.yaml
for objective in completion completion_per_cost usd_per_job kwh_per_job; do
    for more in count_npus=true 'constraints=[ usd <= 1500000 ]' system.mtbf.npu_h=20000 'events={ backfill: true, contention: shared, duty: interleaved }'; do
        of alloc mix.yaml -q --set objective=$objective --set "$more" --set 'vary={ network.dims.pod.taper: [ 1, 2 ] }' --of json
    done
done
of alloc mix.yaml -q --set 'vary={ network.dims.pod.taper: [ 1, 2, 4 ] }'
of alloc mix.yaml -q --set 'vary={ network.dims.pod.taper: [ 1, 2, 4 ] }' --of csv
n=8
tables="--runs t1.csv --jobs t2.csv --places t3.csv --links t5.csv"
vary place jobs.yaml events $tables --set 'schedulers=[ fifo, srtf+spread, las+topology, gavel ]' <<..
!contention: shared | none
backfill: true
overhead_s: 5
las_queues: 3 | 2
las_at: [ 100 ] | [ 30, 400 ]
round_s: 60 | 200
duty: always | interleaved
..
of place jobs.yaml -j 1 $tables --of csv --set 'system={ npu_usd: 30000, npu_watt: 700, checkpoint: { size_GB: 10 } }' --set 'schedulers=[ fifo, drf ]'
of place jobs.yaml -j 1 --set 'vary={ network.dims.pod.bw_GBps: [ 20, 50 ] }' --set 'schedulers=[ fifo, drf, sjf+random ]'
of place jobs.yaml -j 1 $tables --of csv --set 'jobs.mix=[ { model: small.yaml, gpus: 8, parallel: { batch: 32 }, search: { tp: [ 1, 2 ], pp: [ 1, 2 ] }, steps: 900 }, { model: small.yaml, gpus: 4, parallel: { batch: 16 }, search: {}, tokens: 1e7 } ]'

echo "== the best of a study"
sed 's/parallel: { batch: 64 }/parallel: { batch: 64 }, search: { pp: [ 1, 2 ], cp: [ 1 ] }/; s/step_tokens: 1e6//' train.yaml >sought.yaml
while read -r words; do
    of best sought.yaml -j 1 --set split=given --set 'vary={ zip: { network.npu.peak_TFLOPS: [ 100, 300 ], network.npu.usd: [ 9000, 20000 ] }, network.dims.out.size: [ 2, 4, 8 ], workload.parallel.batch: [ 32, 64 ], network.dims.out.bw_GBps: [ 20, 50, 90 ] }' $words 
done <<..
--by time_s --top 2 --of json
--by max:tokens_per_s
--by cost_usd --limit time_s<=0.05 --of json
--by time_s*watt_peak --top 2
--by time_s*cost_usd --limit nic_GBps>=20 --of json
..
of best free.yaml -j 1 --set 'vary={ total_GBps: [ 50, 100, 200, 300 ], network.dims.in.efficiency: [ 0.5, 1 ] }' --by time_s --of csv
of best trained.yaml -j 1 --set 'vary={ total_GBps: [ 200, 400 ], workload.parallel: [ { batch: 64, tp: 2, zero: 1 }, { batch: 64, tp: 4 } ] }' --by time_s*cost_usd --of json

echo "== searches"
sed 's/bw_GBps: [0-9]*/max_GBps: 300/g; s/^system:/total_GBps: 300\nsystem:/' sought.yaml >sought_split.yaml
sed '/^workload:/d' whole.yaml >several.yaml
while read -r search; do
    of sim sought.yaml --set "workload.search=$search" --set split=given --of json
    of alloc sought_split.yaml -q --set "workload.search=$search" --set pricing=fraction --set objective=perf_per_cost --of json
done <<..
{ tp: [ 1, 4 ], pp: [ 1, 2 ], cp: [ 1 ], zero: [ 0, 1 ], micro_batch: [ 1, 2 ], top: 5 }
{ pp: [ 1, 2, 4 ], interleave: [ 1, 2 ], cp: [ 1, 2 ], recompute: [ none, full ], top: 3 }
{ tp: [ 2, 8 ], zero: [ 1, 3 ], seq_parallel: [ true ], top: 4 }
..
of alloc several.yaml -q --set 'workloads=[ { workload: { name: a, model: model.yaml, parallel: { batch: 64 }, search: { tp: [ 1, 2 ], pp: [ 1 ], cp: [ 1 ], zero: [ 1 ] } } }, { workload: { name: b, model: { layers: 8, hidden: 512, heads: 8, seq: 1024, vocab: 8000 }, parallel: { batch: 32 }, search: { tp: [ 1, 4 ], pp: [ 1 ], cp: [ 1 ] } }, weight: 3 } ]' --set objective=perf_per_cost --set pricing=fraction --of json

echo "== figures of tables that others do not write"
"$WEFT" place jobs.yaml -q -j 1 --set 'vary={ network.dims.pod.bw_GBps: [ 25, 50 ], jobs.count: [ 12, 20 ] }' --set 'schedulers=[ fifo, las+topology ]' --set seeds=2 -o priced.csv --places pplaces.csv --links plinks.csv
"$WEFT" place interval.yaml -q -j 1 --set 'vary={ jobs.count: [ 6, 12 ] }' -o interval.csv
"$WEFT" calibrate bench.csv --collective all-reduce --ranks 8 -q --of csv -o curves1.csv
"$WEFT" sweep rated.yaml -q -j 1 --set split=given --set 'vary={ system.sold: [ 0.2, 0.6, 1 ], network.dims.out.bw_GBps: [ 20, 40 ] }' --set 'uncertain={ draws: 9, keys: { system.energy_usd_kWh: { uniform: [ 0.05, 0.2 ] } } }' -o owned.csv
"$WEFT" sweep experts.yaml -q -j 1 --set split=given --set 'vary={ workload.parallel: [ { batch: 64, ep: 4, zero: 1 }, { batch: 64, ep: 8, pp: 2 }, { batch: 128, ep: 2, cp: 2 } ], model: [ bandwidth, alpha-beta ] }' -o eparts.csv
"$WEFT" sim experts.yaml --model chunk -q --timeline eline.csv --set 'workload.parallel={ batch: 64, ep: 4, pp: 2, zero: 1 }' -o esim.txt
"$WEFT" gossip gossip.yaml -q -j 1 --set 'vary={ clock.jitter: [ 0, 0.3 ], network: [ switch:4@0.001, ring:4@0.01 ] }' --set 'methods=[ pair, sparq, { method: diloco, period: [ 4, 8 ] } ]' --set need_pct=20 --set seeds=2 -o gossips.csv --curves losses.csv
"$WEFT" hetero measured.yaml -q -j 1 --set 'vary={ batch: [ 2048, 4096 ] }' -o hetero2.csv --plans layers2.csv --curves curves2.csv
while read -r words; do
    of plot $words --of gp
    of plot $words --width 800 --height 900 --of svg
done <<..
place priced.csv
place_diff priced.csv
place_cost priced.csv
makespan priced.csv --where jobs.count=12
gantt pplaces.csv --where seed=1 --where point=0
links plinks.csv --where point=1
place interval.csv
optimum interval.csv
calibrate curves1.csv
cost owned.csv
breakdown eparts.csv
mfu eparts.csv
plans eparts.csv
timeline eline.csv
gossip gossips.csv
gossip_loss losses.csv
gossip_need gossips.csv
hetero hetero2.csv
strip layers2.csv
learning curves2.csv
tornado tornado.csv --where answer=cost_usd
split s.csv --where network=a
front front.csv
..
for table in s.csv p.csv owned.csv; do
    rm -f page.html
    "$WEFT" report $table -q -o page.html >out 2>&1
    echo "exit $?" >>page.html
    mv page.html out
    say report $table
done

echo "== grids of bandwidths, fronts that pass over points, networks by factoring"
sed '/^total/d' bare.yaml >loose.yaml
for keep in 'front: [ time_s, cost_usd ]' 'front: [ time_s, max:mfu ], per: [ network ]' 'top: { n: 5, by: perf_per_cost_gain }' 'where: [ time_s <= 0.02, cost_usd <= 60000 ]' 'front: [ comm_s, nic_GBps, cost_usd ], where: [ 2*total_GBps - nic_GBps <= 900 ]' 'top: { n: 9, by: time_s }, per: [ objective ]'; do
    of sweep two.yaml -q -j 1 --of csv --set split=given --set pricing=fraction --set 'vary={ network.dims.in.bw_GBps: { from: 50, to: 900, points: 90 }, network.dims.out.bw_GBps: { from: 20, to: 400, points: 40, scale: log } }' --set "keep={ $keep }"
    of sweep loose.yaml -q -j 1 --of csv --set split=given --set 'vary={ network.dims.in.bw_GBps: { from: 50, to: 900, step: 25 }, network.dims.out.bw_GBps: { from: 20, to: 400, step: 20 } }' --set "keep={ $keep }" --set model=alpha-beta
    of sweep bare.yaml -q -j 1 --of csv --set 'vary={ total_GBps: { from: 20, to: 900, points: 90 }, network.dims.in.efficiency: [ 0.5, 0.8, 1 ], objective: [ time, perf_per_cost ] }' --set "keep={ $keep }"
done
printf 'parts: rates.yaml\nworkload: { step: { sum: [ { compute_ms: 1 }, { all-reduce: { size_MB: 30, group: all } } ] } }\n' >nowhere.yaml
for count in 12 64; do
    of sweep nowhere.yaml -q -j 1 --of csv --set "vary={ network: { factor: { npus: $count, dims: { from: 1, to: 3 }, tiers: [ { name: in, tier: In, shapes: [ ring, full ], dims: { from: 0, to: 2 }, latency_ns: 700 }, { name: out, tier: Out, dims: 1, latency_ns: 2000 } ] } }, total_GBps: [ 100, 300 ] }"
done

echo "== measured operators and steps"
{
    echo "card,kind,pass,dtype,M,N,K,heads,seq,head_dim,causal,us"
    for side in 1024 4096 16384; do
        for inner in 1024 16384; do
            awk -v m=$side -v k=$inner 'BEGIN {
                printf "x,gemm,fwd,bf16,%d,8192,%d,,,,,%.3f\n", m, k, 3 + 2 * m * 8192 * k / 590e6 * (1 + (m + k) % 7 / 90)
                printf "x,gemm,dgrad,fp8,%d,8192,%d,,,,,%.3f\n", m, k, 4 + 2 * m * 8192 * k / 1100e6 * (1 + (m + k) % 5 / 90)
            }'
        done
        awk -v s=$side 'BEGIN {
            for (causal = 0; causal < 2; causal++) {
                printf "x,attention_fwd,,bf16,,,,32,%d,128,%d,%.3f\n", s, causal, 5 + 4 * s * s * 128 * 32 / (1 + causal) / 500e6
                printf "x,attention_bwd,,bf16,,,,32,%d,128,%d,%.3f\n", s, causal, 9 + 10 * s * s * 128 * 32 / (1 + causal) / 400e6
            }
        }'
    done
} >ops.csv
cat >npu.yaml <<..
name: made up
peak_TFLOPS: 1000
peak_8bit_TFLOPS: 2000
mem_GB: 400
mem_GBps: 4000
matrix_efficiency: 0.9
flash_efficiency: 0.3
mem_efficiency: 0.8
watt: 700
..
for of in yaml json csv text; do
    for more in "--kernel fa2" "--kernel fa3 --power-W 500"; do of calibrate --npu npu.yaml ops.csv --column op=kind,precision=dtype,m=M,n=N,k=K,time_us=us --where card=x $more --of $of; done
done
i=0
for plan in "micro_batch: 1" "micro_batch: 2, recompute: full" "tp: 2, seq_parallel: true"; do
    i=$((i + 1))
    echo "{ network: { npu: npu.yaml, dims: [ { name: node, shape: switch, size: 8, bw_GBps: 450 } ] }, model: alpha-beta, workload: { name: s, model: model.yaml, parallel: { batch: 64, zero: 1, software: megatron, $plan } } }" >measured$i.yaml
done
printf 'study,step_s\nmeasured1.yaml,0.24\nmeasured2.yaml,0.17\nmeasured3.yaml,0.45\n' >steps.csv
of calibrate --npu npu.yaml steps.csv

echo "== what others write, what they read"
printf 'topology: [ Ring, FullyConnected, Switch ]\nnpus_count: [ 4, 2, 4 ]\nbandwidth: [ 200.0, 100.0, 50.0 ]\nlatency: [ 50.0, 500.0, 2000.0 ]\n' >net.yml
printf '{ "scheduling-policy": "LIFO", "endpoint-delay": 10, "active-chunks-per-dimension": 2, "preferred-dataset-splits": 8, "all-reduce-implementation": ["ring", "direct", "halvingDoubling"], "all-gather-implementation": ["ring", "direct", "doubleBinaryTree"], "collective-optimization": "localBWAware", "inter-dimension-scheduling": "themis", "local-mem-bw": 1600 }\n' >sys.json
of import net.yml sys.json
"$WEFT" import net.yml sys.json -q | sed '/^workload/d' >astra2.yaml
of topo astra2.yaml --astra -
of topo astra2.yaml --astra-system -
cat >>astra2.yaml <<..
workload: { step: { sum: [ { all-reduce: { size_MB: 10, group: all } }, { all-gather: { size_MB: 3, group: all } }, { reduce-scatter: { size_MB: 4, group: all } } ] } }
..
for algorithm in ring direct halving-doubling double-binary-tree; do
    of sim astra2.yaml --model chunk --set "simulation.algorithms=[ ring, direct, $algorithm ]" --timeline t1.csv --of json
    of sim astra2.yaml --model chunk --set simulation.semantics=astra-sim-2-aware --set "simulation.algorithms=[ $algorithm ]" --set network=switch:8@50 --set simulation.reduction=free --set 'workload={ step: { all-reduce: { size_MB: 10, group: all } } }' --set simulation.chunks=1 --timeline t1.csv --of json
done
of sim two.yaml --model chunk --timeline t1.json --of json
of sim experts.yaml --model chunk --timeline t2.json --of json --set 'workload.parallel={ batch: 64, ep: 4, pp: 2, zero: 1 }'
awk 'BEGIN { print "a,b,c,label"; x = 3; for (i = 0; i < 300; i++) { for (k = 0; k < 3; k++) { x = x * 16807 % 2147483647; v[k] = x / 2147483647 }; printf "%.4f,%.4f,%.4f,%s\n", v[0], v[1], v[2], (v[0] + v[1] > 1 ? "up" : v[2] > 0.5 ? "mid" : "low") } }' >own.csv
sed '200,$d' own.csv >own2.csv
for more in "train_csv: own.csv, test_csv: own.csv, label: label" "train_csv: own.csv, test_csv: own2.csv, label: label"; do of gossip gossip.yaml -j 1 --of csv --set "data={ $more }" --set 'methods=[ pair, all-reduce, adacomm, variance ]'; done

echo "== pages of studies, of keys"
for study in bare two trained experts; do
    rm -f page.html
    "$WEFT" report $study.yaml -q -o page.html --set 'vary={ total_GBps: [ 300, 500 ] }' >out 2>&1
    echo "exit $?" >>page.html
    mv page.html out
    say report $study.yaml
    rm -f page.html
    "$WEFT" report $study.yaml -q -o page.html >out 2>&1
    echo "exit $?" >>page.html
    mv page.html out
    say report $study.yaml, one answer
done
of explain train.yaml --set 'workload.parallel={ batch: 64, zero: 1, tp: 2, pp: 2 }' --set model=alpha-beta --of csv
of keys --of json
of keys --of csv
for section in study network dims npu system simulation parallel place hetero gossip; do of keys $section; done
for kind in study network npu parts model workload place hetero gossip profile; do of keys --schema $kind; done
for name in dgx-h100-pod "dgx-h100-pod --like b200" "main --set total_GBps=200"; do of new - --like $name; done

echo "== many rows, reasons"
"$WEFT" sweep train.yaml -q -j 1 --set split=given --set 'vary={ workload.parallel: [ { batch: 64, tp: 2, zero: 1 }, { batch: 64, tp: 4 }, { batch: 64, pp: 2, zero: 1 }, { batch: 64, pp: 4, tp: 2, recompute: full } ], network.dims.out.bw_GBps: { from: 50, to: 1500, step: 50 } }' -o many.csv
sed '/^parts/d' nowhere.yaml >unpriced.yaml
"$WEFT" sweep unpriced.yaml -q -j 1 --set 'vary={ network: [ "ring:4 switch:4", "full:4 switch:4" ], total_GBps: { from: 20, to: 400, points: 30 }, objective: [ time, utilization ] }' -o unpriced.csv
"$WEFT" sweep bare.yaml -q -j 1 --set 'vary={ total_GBps: { from: 10, to: 900, points: 40 }, network.dims.in.efficiency: [ 0.5, 0.8, 1 ] }' --set time_limit_s=0.005 --set objective=cost -o limited.csv
for table in many unpriced limited; do
    for figure in breakdown time speedup cost split utilization plans mfu nic pareto; do of plot $figure $table.csv --of gp; done
    rm -f page.html
    "$WEFT" report $table.csv -q -o page.html >out 2>&1
    echo "exit $?" >>page.html
    mv page.html out
    say report $table
done
for set in 'sjf_bco={ whole_iterations: true, slot_s: 0.015 }' sjf_bco.kappa=40 sjf_bco.theta_max=1 'jobs.sizes=[ [ 64, 2 ] ]' jobs.iteration_s=0 jobs.alpha=-1; do of place batch.yaml -j 1 --set "$set"; done
for set in jobs.count=0 slots=3 schedulers=[nosuch] 'gadget={ rounding: loose }' servers.gpu=0; do of place slots.yaml -j 1 --set "$set"; done
for set in 'methods=[ { method: diloco, period: 4, fragments: 9 } ]' 'methods=[ { method: diloco, period: 4, delay: 4 } ]' 'methods=[ { method: sparq, keep: 2 } ]' 'methods=[ { method: pair, rule: drift } ]' 'methods=[ { method: lag-wk, lag_depth: 0 } ]' workers=1 learner.batch=1000; do of gossip gossip.yaml -j 1 --set "$set"; done
for set in types.v100.max_units=0 'schedulers=[ exact, exact ]' throughput.share=2 batch=0 'job={ examples_M: 0, epochs: 1 }'; do of hetero measured.yaml -j 1 --set "$set"; done
for set in split=given network.dims.in.efficiency=2 'constraints=[ nosuch >= 3 ]' 'constraints=[ in >= 300, out >= 300 ]' total_GBps=-3 objective=nosuch 'network.dims.in.shape=cube' 'workload={ step: { compute_ms: -1 } }' 'vary={ total_GBps: [] }' 'keep={ front: [ time_s ] }' 'where=[ nosuch <= 3 ]'; do of alloc bare.yaml -q --set "$set"; done
awk 'BEGIN { print "a,b,c,k,s"; x = 11; for (i = 0; i < 60; i++) { for (k = 0; k < 5; k++) { x = x * 16807 % 2147483647; v[k] = x / 2147483647 }; printf "%.5g,%.5g,%.5g,%s,%s\n", v[0] ^ 9, 1000 * v[1] - 300, v[2] / 1e7, (v[3] > 0.6 ? "x" : v[3] > 0.2 ? "y" : ""), (v[4] > 0.5 ? "a rather long name, with a comma" : "u") } }' | sed 's/a rather.*/"&"/' >letters.csv
while read -r words; do of plot xy letters.csv $words --of svg; done <<..
--x a --y b --linear
--x b --y a --log y --facet k
--x a --y c --facet k --facet-rows s
--x c --y b --color k --shape s --facet-rows k --shared
--x k --y a --bars --color s --best min:a
--x s --y b --bars --best max:b --top 1
--x a --y b --y c --join --color k
--x c --y a --linear --front min,max --label front --text s
--x b --y c --range-x=-100:900 --range-y=0:5e-8 --color a
..
while read -r words; do of front $words; done <<..
slots.csv --by max:utility,jct --behind 2
slots.csv --by max:utility,jct --per jobs.count --of csv
events.csv --by jct_s,makespan_s --of json
gossip.csv --by max:accuracy_pct,traffic_MB --per workers --behind 1
..
of plot xy letters.csv --x b --y c --front min,min --label knee --of svg

echo "== words that shells are offered"
for command in sweep best plot keys place import; do
    {
        for typed in "" - -- --o --of "--of " "--of j" "--of=t" "--by " "--by ti" "--by max:t" "--where " "--where o" "--set " "--set network." "--set network.dims[0]." "--set workload.parallel." "--set jobs.mix[1].p" "--set objective=" "--set objective=p" "--set=model=" "--schema " "--like " "--model " "--top " "two.yaml --set network.dims." "two.yaml --set workload.parallel.t" "-x " "--of json --" "-- -" "one.yaml two"; do
            echo "? $typed"
            words=${typed% *}
            case $typed in *" "*) "$WEFT" help --words $command $words "${typed##* }" ;; *) "$WEFT" help --words $command "$typed" ;; esac
        done
    } >out 2>&1
    echo "exit 0" >>out
    say words of $command
done
for typed in "" s "--" "nosuch -"; do of help --words "$typed"; done
of help --words
for page in $("$WEFT" help --man); do
    { "$WEFT" help --man $page 2>&1; echo "exit $?"; } | sed '/^\.TH /d' >out
    say page $page
done
