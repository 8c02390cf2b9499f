#!/bin/sh
# Studies of layers on types of resources: a row a point and scheduler, tables beside them, the same on any number
# of threads; what is wrong is said where it stands; an interrupt leaves nothing.
echo "== the study of schedulers: points whose cheapest plan is proved"
"$WEFT" hetero configs/studies/heterps.yaml --set 'schedulers=[oracle, heuristic]' -q | grep -c '^cheapest plan: .* (proved)$'
echo "== the network between pools is paid for: which port pays for itself"
"$WEFT" hetero configs/studies/hetero-ports.yaml -q --set 'schedulers=[oracle]' | grep '^oracle'
cd "$TMPDIR" || exit 1
run() { echo "\$ weft $*"; "$WEFT" "$@" 2>&1; echo "exit $?"; }
cat >measured.yaml <<..
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
schedulers: [greedy, heuristic, gpu-only, cpu-only]
..
cat >drawn.yaml <<..
model: nce
draw: { types: 3 }
job: { examples_M: 100 }
schedulers: [genetic, anneal, heuristic, gpu-only]
evaluations: 200
seeds: 3
seed: 101
vary: { throughput.share: [0.1, 0.9] }
..
echo "== one point: its table, the stages of its cheapest plan"
run hetero measured.yaml
run hetero measured.yaml --set network='switch:16@12.5' --set types.v100.nic_GBps=1 --set servers='{type: cpu, GBps: 1}' --set throughput='{share: 0.4, of: gpu-only}'
run hetero measured.yaml --set schedulers='[heuristic]' --of json | sed -e 's/"study_hash": "[0-9a-f]*"/"study_hash": "HASH"/'
echo "== points"
run hetero drawn.yaml
run hetero drawn.yaml --set vary='{model: [nce, nec]}' --set schedulers='[heuristic]'
echo "== against learning"
run hetero drawn.yaml --set vary='{throughput.share: [0.3, 0.5]}' --set schedulers='[rl-lstm, gpu-only, heuristic]' --set rl.rounds=3 --set rl.plans=8 |
    sed -n '/against the others/,$p'
echo "== tables beside the rows"
tables() { "$WEFT" hetero drawn.yaml -j "$1" -o "$2-rows.csv" --runs "$2-runs.csv" --plans "$2-plans.csv" --stages "$2-stages.csv" --curves "$2-curves.csv"; }
tables 1 one && tables 4 four
for t in rows runs plans stages curves; do
    cmp one-$t.csv four-$t.csv && echo "$t: the number of threads changes nothing"
    sed -e 's/=.*//' -e '/^[^#]/q' one-$t.csv
done
"$WEFT" hetero measured.yaml --timing --of csv | sed -n '/^[^#]/{p;q}'
echo "== a throughput that no plan reaches, limits that no scheduler keeps"
run hetero measured.yaml --set throughput.per_s=1e9
run hetero drawn.yaml --set vary='{throughput.per_s: [1e5, 1e9]}' --set schedulers='[heuristic]'
run hetero drawn.yaml --set vary='{throughput.per_s: [1e9], draw.types: [2, 3]}' --set evaluations=1 -q --of csv -o /dev/null
run hetero measured.yaml --set schedulers='[cpu-only, gpu-only]' --set types.v100.max_units=20 -o /dev/null
run hetero measured.yaml --set types.cpu.max_units=2 --set types.v100.max_units=2 --set types.v100.host_units=2 --set schedulers='[exact]'
run hetero measured.yaml --set schedulers='[cpu-only]'
run hetero measured.yaml --set schedulers='[cpu-only]' --set vary='{throughput.per_s: [1e9]}'
echo "== what is wrong"
run hetero measured.yaml --set model=nce
run hetero measured.yaml --set throughput='{per_s: 1, share: 1}'
run hetero measured.yaml --set types.v100.compute_parallel=0.9
run hetero measured.yaml --set types.cpu.compute_parallel=1.5
run hetero measured.yaml --set layers.emb.compute_ms='{cpu: 1}'
run hetero measured.yaml --set layers.emb.compute_ms.v10=1
run hetero measured.yaml --set schedulers='[greddy]' | sed -e 's/schedulers oracle.*;/schedulers ..;/'
run hetero measured.yaml --set handover=network
run hetero measured.yaml --set batch=0
run hetero drawn.yaml --set vary='{draw.tipes: [2]}'
run hetero drawn.yaml --set vary='{seeds: [2]}'
run hetero drawn.yaml --set draw.types=1000
run hetero missing.yaml
: >empty.yaml
run hetero empty.yaml
printf '\001\377{{{' >rubbish.yaml
run hetero rubbish.yaml
run hetero "ring:4@10"
echo "== keys without effect"
run hetero measured.yaml --set draw.types=3 --set rl.hidden=3 --set evaluations=9 --set types.v100.dim=pod -o /dev/null
run hetero drawn.yaml --set vary='{schedulers: [[genetic], [anneal]]}' --set genetic.elite=3 --set bayes.initial=3 -o /dev/null
echo "== what there is"
run hetero --list | sed -n '/^$/,$p'
run hetero --columns --of csv
run keys throughput
echo "== outputs"
run hetero measured.yaml --runs same.csv --plans same.csv
run hetero measured.yaml -o two.csv --plans ./two.csv
ln -s one-rows.csv linked.csv
run hetero measured.yaml -f -o one-rows.csv --plans linked.csv
run hetero measured.yaml -f --runs ./measured.yaml
run hetero measured.yaml -f -o measured.yaml
run hetero measured.yaml --plans nowhere/p.csv
run hetero measured.yaml -o measured.yaml/p.csv
run hetero measured.yaml -o one-rows.csv
run hetero measured.yaml -o /dev/full
run hetero measured.yaml --curves /dev/full
run hetero measured.yaml -j 0
run hetero
echo "== what is over a cost without a plan is blank"
printf 'model: matchnet\ndraw: { types: 16 }\njob: { examples_M: 100 }\nschedulers: [oracle, rl-lstm, random]\nevaluations: 4\nthroughput: { share: 0.9 }\nseeds: 3\n' >noplan.yaml
"$WEFT" hetero noplan.yaml -q --of json | grep -o '"scheduler": "[a-z-]*"\|"over_rl": [^,}]*'
echo "== an interrupt writes nothing"
rm -f ./*.csv
timeout --foreground --preserve-status -s INT 2 "$WEFT" hetero drawn.yaml --set seeds=100000 -o long.csv --curves curves.csv
echo "exit $?"
ls
