#!/bin/sh
# Placement studies: a row a point and scheduler, tables beside them, the same on any number of threads; what is
# wrong is said where it stands; an interrupt leaves nothing.
profile=$PWD/configs/clusters/profiles/vision-2019.yaml
cd "$TMPDIR" || exit 1
run() { echo "\$ weft $*"; "$WEFT" "$@" 2>&1; echo "exit $?"; }
cat >slots.yaml <<..
name: small
network: "ring:4@100 switch:4@50"
model: slots
slots: 20
jobs: { count: 6, zeta: [60, 120], hop_GBps: 0.25 }
schedulers: [drf, las, fifo]
seeds: 3
vary: { jobs.count: [4, 8] }
..
cat >batch.yaml <<..
model: batch
jobs: { sizes: [[1, 4], [2, 3], [4, 2]], iteration_s: 0.02, iterations: 5000, run_s: 100 }
pool: { servers: 3, gpus: [4] }
..
echo "== two models"
run place slots.yaml
run place slots.yaml --store s.db --jobs s.db
run place batch.yaml
run place slots.yaml --set seeds=1 --set vary='{jobs.count: [3]}' --set schedulers=[las] --of json | sed -e 's/"study_hash": "[0-9a-f]*"/"study_hash": "HASH"/'
echo "== tables beside the rows"
tables() { "$WEFT" place "$1" -j "$2" -o "$3-rows.csv" --runs "$3-runs.csv" --jobs "$3-jobs.csv" --places "$3-places.csv" --slots "$3-slots.csv" --links "$3-links.csv"; }
tables slots.yaml 1 one && tables slots.yaml 4 four
for t in rows runs jobs places slots links; do
    # The command stands in the head, and the names of the files in it.
    sed 1,4d one-$t.csv >one && sed 1,4d four-$t.csv >four && cmp one four && echo "$t: the number of threads changes nothing"
    sed -e 's/=.*//' -e '/^[^#]/q' one-$t.csv
done
tables batch.yaml 2 batch
for t in places jobs; do grep -v '^#' batch-$t.csv | sed -n 1,2p; done
echo "== networks side by side: one column says which"
"$WEFT" place slots.yaml -q --set 'vary={network: ["ring:4@100 switch:4@50", "switch:16@50"]}' --set 'schedulers=[las]' -o nets.csv --runs nets-runs.csv
for t in nets nets-runs; do grep -v '^#' $t.csv | cut -d, -f1-6; done
run plot place nets.csv -q -o nets.svg
echo "== progress by the time of an iteration"
tau='{gradient_MB: 100, reduce_GBps: 50, forward_ms: 1, samples: 32, backward_ms: 50, slot_s: 2}'
run place slots.yaml --set jobs.progress=tau --set "jobs.tau=$tau" --set jobs.utility=linear --set seeds=1 --set 'vary={jobs.tau.batch: [worker, job]}'
run place slots.yaml --set jobs.progress=tau
run place slots.yaml --set "jobs.tau=$tau" --set seeds=1 --set schedulers=[drf] --set 'vary={jobs.count: [4]}'
echo "== a store: on after a stop, its tables, what it would take"
run place slots.yaml --dry-run
run place batch.yaml --dry-run -v
run place slots.yaml --store slots.db --runs runs.csv --jobs jobs.csv
run place slots.yaml --store slots.db --runs runs.csv --jobs jobs.csv -f
run export slots.db --table runs --where scheduler=las --where point=0
run export slots.db --table jobs --of csv --where seed=1 --where scheduler=drf -o some.csv
sed '/^#/d' some.csv
run export slots.db --table nosuch
run export slots.db --table places
run export slots.db --where scheduler=las --of json -q -o rows.json
sed -e 's/"study_hash": "[0-9a-f]*"/"study_hash": "HASH"/' -e 's/"command": "[^"]*"//' rows.json
"$WEFT" place batch.yaml --set 'pool={servers: 3}' -q --of csv | sed '/^#/d'
for i in 1 2; do run place slots.yaml --store "half$i.db" --shard "$i/2"; done
run merge halves.db half1.db half2.db | sed 's/[0-9a-f]\{16\}/HASH/g'
"$WEFT" export halves.db -q --of csv >halves.csv && "$WEFT" export slots.db -q --of csv | cmp - halves.csv && echo "the rows of an undivided run"
echo "== graphs"
printf 'src,dst,bw_GBps,latency_ns\na,switch-1,10,500\nb,switch-1,10,500\nc,switch-1,10,500\n' >star.csv
printf 'src,dst,bw_GBps,latency_ns\na,switch-1,10,500\nb,switch-1,10,500\nc,d,10,500\n' >torn.csv
cat >graph.yaml <<..
graph: star.csv
servers: { gpu: 4 }
model: slots
slots: 10
jobs: { count: 4, arrivals: at-once, zeta: 100, workers: 2, fixed_workers: 2, iterations: 1000, utility: linear, scale: 1 }
schedulers: [fifo]
..
run place graph.yaml
run place graph.yaml --set graph=torn.csv
run place graph.yaml --set jobs.fixed_workers=20 --set jobs.iterations=9000
run place graph.yaml --set jobs.gpus=5
run place graph.yaml --set 'vary={jobs.gpus: [1, 5]}'
run place graph.yaml --set network=ring:4@10
run place graph.yaml --set racks='{}' --set graph=~
echo "== what is wrong"
run place graph.yaml --set jobs.gpus=-1
run place graph.yaml --set seeds=0
run place graph.yaml --set schedulers=[fito]
run place graph.yaml --set schedulers=[]
run place graph.yaml --set model=slot
run place graph.yaml --set 'vary={jobs.cuont: [1]}'
run place graph.yaml --set 'vary={gadget.sample: [1]}'
run place graph.yaml --set 'vary={seed: [1, 2]}'
run place graph.yaml --set jobs.budget=none
run place missing.yaml
echo "== keys and options without effect"
run place graph.yaml --set gadget='{samples: 3}' --set las='{}' --set sjf_bco='{}' --set jobs.utility=log --set jobs.slope=0.1
run place batch.yaml --set slots=5 --set schedulers=[sjf-bco] --slots none.csv
grep -v '^#' none.csv
echo "== the other models, on a network and on a pool"
cat >trace.csv <<'..'
job_id,submit_s,gpus,runtime_s,status,model,iters,grad_bytes,batch,ps,workers,priority,synthetic
a,0,4,60,pass,,60,1e9,,,,,
b,5,8,x,pass,,60,1e9,,,,,
c,10,2,0,killed,,,,,,,,
d,12,8,40,pass,,40,2e9,,,,,
..
cat >events.yaml <<'..'
model: events
network: "switch:2@100 switch:4@5"
jobs: { trace: trace.csv, length: iterations, skip_bad: true }
schedulers: [fifo, srtf+topology, drf+spread]
..
run place events.yaml
run place events.yaml --set jobs.skip_bad=false
run place events.yaml --set jobs.trace=missing.csv
run place events.yaml --set network=switch:2@5 --set server=npu
sed '/^pool/d' batch.yaml >wired.yaml
run place wired.yaml --set network='switch:8@100 switch:4@5' --set 'schedulers=[sjf-bco,ls]' --links load.csv
head -7 load.csv | sed 1,4d
run place batch.yaml --set sjf_bco.theta_max=1
cat >interval.yaml <<'..'
model: interval
jobs: { count: 10 }
pool: { units: 1 }
..
run place interval.yaml --jobs decided.csv
cut -d, -f3-5 decided.csv | sed -n 6,9p
run place interval.yaml --set smd='{inner: exact, eps: 0.1, subset: 3}' --set schedulers=[smd]
run place --list
run place --columns
echo "== jobs of one length go by when they came, whatever their iterations"
cat >tie.csv <<..
job_id,submit_s,gpus,runtime_s,status,model,iters,grad_bytes,batch,ps,workers,priority,synthetic
first,0,2,100,pass,,10,,,,,,
earlier,1,2,510,pass,,1,,,,,,
later,50,2,510,pass,,100,,,,,,
..
cat >tie.yaml <<..
model: events
network: "switch:2@100"
server: npu
jobs: { trace: tie.csv }
schedulers: [sjf, srtf]
..
"$WEFT" place tie.yaml -q --jobs ends.csv >all.txt && grep -v '^#' ends.csv | cut -d, -f3-12
echo "== a metric that a seed lacks has no mean; jobs that never get on are refused"
"$WEFT" place tie.yaml -q --set 'jobs={count: 6, jobs_per_h: 40, profile: '"$profile"'}' --set network='switch:4@100 switch:4@5' \
    --set 'schedulers=[fifo]' --set seeds=4 --set events='{horizon_s: 2000}' --wide --runs cut.csv | tail -2
grep -v "^#" cut.csv | cut -d, -f4-8
sed -e 's/sjf, srtf/las/' -e '$a events: { las_queues: 0, overhead_s: 300 }' tie.yaml >rounds.yaml
run place rounds.yaml
run place rounds.yaml --set events.overhead_s=299 -q
echo "== outputs"
run place graph.yaml --jobs same.csv --places same.csv
run place graph.yaml --runs ./x.csv --jobs x.csv
run place graph.yaml -f --jobs ./graph.yaml
run place graph.yaml --jobs nowhere/x.csv
run place graph.yaml -o one-rows.csv
run place graph.yaml -o /dev/full
run place graph.yaml --jobs /dev/full
run place graph.yaml -j 0
run place
echo "== an interrupt writes nothing"
rm -f ./*.csv
timeout --foreground --preserve-status -s INT 3 "$WEFT" place slots.yaml --set seeds=100000 -o long.csv --jobs jobs.csv
echo "exit $?"
ls
