#!/bin/sh
# The models above the closed forms: chunks, flows, their timelines, and what is wrong with them.
LC_ALL=C
export LC_ALL
configs=$PWD/configs
cd "$TMPDIR" || exit 1
run() { echo "\$ weft $*"; "$WEFT" "$@" 2>&1; echo "exit $?"; }

cat >study.yaml <<'..'
network:
  npu: { mem_GBps: 2000 }
  dims:
    - { name: node, shape: ring, size: 4, bw_GBps: 100, latency_ns: 500 }
    - { name: pod, shape: switch, size: 8, bw_GBps: 50, latency_ns: 2000 }
workload:
  name: toy
  groups: { tp: { size: 4 }, dp: { after: tp } }
  step:
    sum:
      - { all-reduce: { size_MB: 50, group: tp }, times: 2 }
      - max:
          - { sum: [ { compute_ms: 2 }, { all-reduce: { size_MB: 20, group: tp } } ] }
          - { all-reduce: { size_MB: 80, group: all, priority: 1 }, name: gradients }
          - { broadcast: { size_MB: 5, group: dp } }
      - { send: { size_MB: 1, group: dp } }
..
echo "== every rung"
run sim study.yaml --model all
run sim study.yaml --model chunk --of json
run sim study.yaml --model flow --of csv
run explain study.yaml --set model=chunk
run alloc study.yaml --set model=chunk --set 'network=ring:4 switch:8' --set total_GBps=150
run sim study.yaml --model alpha-beta --set 'simulation={ chunks: 1, algorithms: [auto, auto], endpoint_ns: 100, reduction: memory }'

echo "== timelines"
run sim study.yaml --model chunk --set simulation.chunks=2 --timeline t.csv -q -o sim.txt
grep -v '^#' t.csv | head -4
grep -v '^#' t.csv | cut -d, -f2,3 | sort | uniq -c | sed 's/^ *//'
run sim study.yaml --model chunk --set simulation.chunks=2 --timeline t.json -q -o sim2.txt
grep -c '"ph": "X"' t.json
run plot timeline t.csv -o t.svg
for m in bandwidth alpha-beta flow; do
    run sim study.yaml --model $m --timeline t.csv -f -q -o sim3.txt -f
    sed '/^#/d;/^workload/d' t.csv | awk -F, -v m=$m '$NF + 0 > end { end = $NF + 0; time = $5 } { n++ } END { print m ": " n " bars, the last ends at " end ", the step at " time }'
done
echo "== a step of a million bars"
cat >deep.yaml <<..
network: { npu: $configs/npus/h100-80gb.yaml, dims: [ { name: node, shape: switch, size: 8, bw_GBps: 450 }, { name: pod, shape: switch, size: 9, bw_GBps: 50 } ] }
model: alpha-beta
workload: { model: $configs/models/llama3-405b.yaml, parallel: { tp: 8, pp: 9, batch: 8192 } }
..
run sim deep.yaml --timeline t.csv -f -o sim3.txt
sed '/^#/d;/^workload/d;s/"[^"]*"//g' t.csv | awk -F, '$NF + 0 > end { end = $NF + 0; time = $5 } { n++; all += $17 } END { print n " bars for " all ", the last ends at " end ", the step at " time }'
run sim study.yaml --model chunk --timeline t.txt
run sim study.yaml --model chunk --timeline t.csv

echo "== wires"
run sim study.yaml --model flow --set 'simulation.links=[{ from: npu0, to: npu1, share: 0.5 }]' --set 'simulation.slow=[{ at: [0, "*"], dim: pod, share: 0.25 }]'
run sim study.yaml --model flow --set 'simulation.links=[{ from: npu0, to: npu1, share: 0 }]'
run sim study.yaml --model flow --set 'simulation={ route: shortest, links: [{ dim: pod, share: 0 }] }'
run sim study.yaml --model flow --set 'simulation.links=[{ from: npu0, to: npu99, share: 0 }]'
run sim study.yaml --model flow --set 'simulation.links=[{ from: npu0, share: 0 }]'
printf 'src,dst,bw_GBps,latency_ns\na,b,50,500\nc,d,50,500\n' >apart.csv
printf 'src,dst,bw_GBps,latency_ns\na,b,50,500\nb,c,50,500\nc,d,50,500\nd,a,10,500\n' >ring.csv
printf 'network: ring:2@50 ring:2@50\nworkload: { step: { all-reduce: { size_MB: 8, group: all } } }\n' >four.yaml
printf 'model: flow\nsimulation: { graph: ring.csv }\n' >>four.yaml
run sim four.yaml
run sim four.yaml --set simulation.graph=apart.csv
run sim four.yaml --set simulation.graph=nosuch.csv
run sim four.yaml --set network=ring:8@50
run sim four.yaml --set simulation.route=dimension

run sim study.yaml --model all -q --links l.csv -o all.txt
grep -v '^#' l.csv | head -3
grep -c ' -> ' l.csv
run sim study.yaml --model chunk --links l.csv -f

echo "== which algorithm, and as the model of a sweep"
run explain study.yaml -q --set model=alpha-beta --set 'simulation={ algorithms: [auto, double-binary-tree], endpoint_ns: 300 }'
cat >>study.yaml <<'..'
vary: { model: [bandwidth, alpha-beta, chunk, flow], simulation.chunks: [1, 8] }
..
"$WEFT" sweep study.yaml -q -o sweep.csv
grep -v '^#' sweep.csv | cut -d, -f1-3,10,11
"$WEFT" sweep study.yaml -q -j 1 -f -o sweep1.csv
cmp sweep.csv sweep1.csv && echo same

echo "== what cannot be simulated"
run sim study.yaml -q --model all --set network='ring:4096@100 switch:64@50' --set 'workload={ step: { all-reduce: { size_MB: 1, group: all } } }'
run sim study.yaml --model chunk --set simulation.chunks=0
run sim study.yaml --model chunk --set simulation.order=best
run sim study.yaml --model chunk --set 'simulation.algorithms=[ring]'
run sim study.yaml --model chunk --set 'simulation.algorithms=[ring, in-switch]'
run sim study.yaml --model chunk --set 'network.dims.pod.size=6' --set 'network.dims.pod.algorithm=halving-doubling'
run sim study.yaml --model chunk --set 'simulation.semantics=astra-sim-2'
run sim study.yaml --model bandwidth --set 'simulation.semantics=libra'
run sim study.yaml --model bandwidth --set 'simulation.semantics=libra' --of json
run sim study.yaml --model bandwidth --set 'simulation.semantics=libra' --of csv
run sim study.yaml --model alpha-beta --set 'simulation.semantics=libra' --of csv
run sim study.yaml --model bandwidth --set 'simulation.semantics=astra-sim-2' --of csv
run sim study.yaml --model chunk --set 'simulation={ semantics: astra-sim-2, order: themis }'
run sim study.yaml --model chunk --set 'simulation.slow=[{ at: [9, 0], share: 0.5 }]'
run sim study.yaml --model chunk --set 'workload.groups.none={ size: 0 }'
run sim study.yaml --model flow --set 'network=ring:16384@50 switch:4@10' --set 'workload={ step: { all-reduce: { size_MB: 1, group: all } } }'

# Two of eight in a full mesh, neighbours on a ring: what their links give, in every model.
cat >part.yaml <<..
network:
  dims:
    - { name: node, shape: full, size: 8, bw_GBps: 100 }
    - { name: row, shape: ring, size: 8, bw_GBps: 100 }
workload:
  name: parts
  groups: { tp: { size: 2 }, cp: { size: 4, after: tp }, dp: { members: [1, 4], after: [tp, cp] } }
  step: { sum: [ { all-reduce: { size_MB: 1000, group: tp } }, { all-reduce: { size_MB: 100, group: dp } } ] }
simulation: { chunks: 1 }
..
run sim part.yaml --model all -q
run sim part.yaml --model all -q --set 'network.dims.node.detour=true' --of csv

echo "== messages in turn, late receivers, runs that are too large"
one() { # STEP SIMULATION: in every model
    printf 'network: { dims: [ { name: a, shape: switch, size: 16, bw_GBps: 100 } ] }\nworkload: { step: { %s } }\n' "$1" >one.yaml
    printf 'simulation: { chunks: 1, %s }\n' "$2" >>one.yaml
    run sim one.yaml --model all -q --of csv
}
one 'all-to-all: { size_B: 16, group: all }' 'endpoint_ns: 300'
one 'all-to-all: { size_MB: 100, group: all }' 'endpoint_ns: 300'
one 'send: { size_MB: 1, group: all }' 'slow: [ { at: [15], late_us: 5000 } ]'
one 'broadcast: { size_MB: 1, group: all }' 'slow: [ { at: [15], late_us: 5000 } ]'
run sim one.yaml --model flow --set network=torus:256x256x256@150 --set 'simulation.slow=[]'
run sim one.yaml --model flow --set network=torus:256x256x256@150 --set 'simulation.slow=[]' \
    --set 'workload={ step: { max: [ { all-reduce: { size_MB: 1, group: all } }, { compute_ms: 1 } ] } }'
