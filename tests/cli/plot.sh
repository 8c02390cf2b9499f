#!/bin/sh
# Figures: what the command says and writes; what is in a figure is tested with plots/.
configs=$PWD/configs
cd "$TMPDIR" || exit 1
run() { echo "\$ weft $*"; "$WEFT" "$@" 2>&1; echo "exit $?"; }
cat >study.yaml <<..
network: ring:4 switch:8
workload:
  name: toy
  step: { sum: [ { compute_ms: 1 }, { all-reduce: { size_MB: 100, group: all } } ] }
vary:
  total_GBps: { from: 100, to: 300, step: 100 }
..
run plot --list
"$WEFT" sweep study.yaml -o rows.csv
run plot speedup rows.csv -o speedup.svg
head -c 38 speedup.svg; echo
run plot speedup rows.csv -o speedup.pdf
head -c 4 speedup.pdf; echo
run plot speedup rows.csv --of png -o speedup.image
head -c 4 speedup.image | tail -c 3; echo
"$WEFT" plot speedup rows.csv | cmp - speedup.svg && echo "standard output is SVG"
"$WEFT" plot speedup - <rows.csv | cmp - speedup.svg && echo "- is standard input"
run plot speedup rows.csv -o speedup.svg
run plot speedup rows.csv -f -o speedup.svg --title "A title" --width 400 --height 300 --where total_GBps=100 --where total_GBps=200
grep -c "A title" speedup.svg
"$WEFT" sweep study.yaml --set simulation.semantics=libra -o libra.csv
run plot speedup libra.csv --of gp -o libra.gp
grep -c "semantics libra" libra.gp
# Tables of other commands.
cat >step.yaml <<..
network: switch:4@50 switch:4@50
workload:
  name: toy
  step: { max: [ { compute_ms: 5 }, { all-reduce: { size_MB: 80, group: all } } ] }
simulation: { chunks: 8, order: guard }
model: chunk
..
"$WEFT" sim step.yaml --timeline step.csv >step.txt
run plot timeline step.csv -o step.svg
grep -Eo '>([a-z ]*: [0-9.]* ms[a-z ()]*|compute|dim[12]|[0-9]* %|reduce-scatter|all-gather)<' step.svg
run plot timeline step.csv --where order=themis --title "One order" -o themis.pdf
head -c 4 themis.pdf; echo
run plot timeline step.csv --where workload=none -o x.svg
run plot timeline step.csv --where ordre=fixed -o x.svg
run plot timeline rows.csv -o x.svg
run plot speedup step.csv -o x.svg
cat >fit.csv <<..
file,curve,collective,ranks,bytes,time_us,model_us,error_frac,busbw_GBps,model_busbw_GBps
run.log,"",all-reduce,4,1024,10,9.5,-0.05,0.15,0.16
run.log,"",all-reduce,4,1048576,50,52,0.04,31.5,30.2
..
run plot calibrate fit.csv -o fit.svg
grep -Eo '>([^<]* \[[^<]*\]|1 [KM]iB|all-reduce[^<]*)<' fit.svg
sed 's/time_us/time/' fit.csv >time.csv
run plot calibrate time.csv -o x.svg
sed 's/,50,/,fast,/' fit.csv >fast.csv
run plot calibrate fast.csv -o x.svg
head -n 1 fit.csv >none.csv
run plot calibrate none.csv -o x.svg
# Of trained models: the columns that a sweep writes are those that the figures read.
cat >trained.yaml <<..
network:
  npu: $configs/npus/a100-80gb.yaml
  dims:
    - { name: node, shape: switch, size: 8, bw_GBps: 300, tier: InterPackage }
    - { name: pod, shape: switch, size: 64, bw_GBps: 25, tier: InterRail }
parts: $configs/parts/catalogue-2026.yaml
workload: { name: GPT-3, model: $configs/models/gpt3-175b.yaml, parallel: { batch: 1024, recompute: selective, seq_parallel: true } }
vary: { workload.parallel.tp: [4, 8], workload.parallel.pp: [8, 7, 16] }
..
"$WEFT" sweep trained.yaml -q -o trained.csv
for figure in breakdown mfu plans; do
    run plot $figure trained.csv -o $figure.svg
done
grep -Eo '>(compute|exposed: [a-z]*|tp[0-9][^<]*|network cost [^<]*|memory|fastest|–)<' breakdown.svg mfu.svg plans.svg
# What is better stands in the head of a CSV, and a store knows it. The rows themselves say which is best.
"$WEFT" sweep trained.yaml -q --store trained.db --of csv >/dev/null 2>&1
grep -v '^#' trained.csv >bare.csv
sed 's/"[^"]*"//g' bare.csv | awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
    $(at["tokens_per_s"]) + 0 > most + 0 { most = $(at["tokens_per_s"]); which = "tp " $(at["tp"]) ", pp " $(at["pp"]) }
    END { print "most tokens per second: " which }'
for table in trained.csv trained.db; do
    "$WEFT" plot xy $table --x memory_GB --y tokens_per_s --top 1 --label top --text tp,pp --of gp | grep -o -e 'the best 1 by [a-z_]* ([a-z ]*)' -e "'tp [^']*'"
done
run plot xy bare.csv --x memory_GB --y tokens_per_s --top 1 -o x.svg
"$WEFT" plot xy bare.csv --x memory_GB --y tokens_per_s --top 1 --best min:tokens_per_s --of gp | grep -o 'the best 1.*better)'
run plot xy bare.csv --x memory_GB --y tokens_per_s --top 1 --best tokens_per_s -o x.svg
run plot xy bare.csv --x memory_GB --y tokens_per_s --top 1 --best max:tokens_per -o x.svg
"$WEFT" plot xy trained.db --list | awk '$1 ~ /^(tokens_per_s|time_s|network|tp)$/ { print $1, $NF }'
# Of placements: likewise.
cat >slots.yaml <<..
model: slots
racks: { servers: 6, total_gpus: 12, racks: 2 }
jobs: { count: 8 }
slots: 20
schedulers: [gadget, fifo]
seeds: 2
vary: { jobs.count: [6, 8] }
..
"$WEFT" place slots.yaml -q -o slots.csv --places places.csv --links links.csv
for figure in place embedded; do
    run plot $figure slots.csv -o $figure.svg
done
run plot gantt places.csv -o gantt.svg
run plot links links.csv -o links.svg
grep -Eo '>(total utility|count of jobs|gadget: [^<]*|fifo|busy|GPUs|time [^<]*|mean)<' place.svg embedded.svg gantt.svg links.svg
run plot makespan slots.csv -o x.svg
# Of schedulers of layers.
cat >layers.csv <<..
point,model,types,layers,scheduler,seeds,usd,over_oracle,over_oracle_worst,feasible,need_per_s,reach_per_s,oracle_usd,oracle_proof,status,message
0,nce,2,3,rl-lstm,5,102,1.02,1.25,5,2e6,,100,optimal,done,
0,nce,2,3,random,5,320,3.2,,4,2e6,,100,optimal,partly,1 of 5 seeds has no plan
0,nce,2,3,cpu-only,1,,,,0,2e6,5e5,100,optimal,infeasible,too slow
..
cat >curves.csv <<..
point,model,scheduler,seed,evaluations,usd,over_oracle
0,nce,random,1,3,400,4
0,nce,random,1,900,320,3.2
0,nce,heuristic,,1,114,1.14
..
cat >plans.csv <<..
point,model,scheduler,seed,layer,name,kind,type,stage,units,unit_usd_per_h
0,nce,rl-lstm,1,1,emb,embedding,cpu,1,12,0.04
0,nce,rl-lstm,1,2,fc,fc,gpu,2,3,2.5
0,nce,rl-lstm,1,3,loss,loss,gpu,2,3,2.5
..
for figure in hetero:layers learning:curves strip:plans; do
    run plot ${figure%:*} ${figure#*:}.csv -o ${figure%:*}.svg
done
grep -Eo '>(optimum[^<]*|[0-9.]* \([^<]*|infeasible[^<]*|cost over[^<]*|plans evaluated|random|12 cpu|3 gpu|[0-9.]*98)<' hetero.svg learning.svg strip.svg
run plot strip layers.csv -o x.svg
sed 's/,3.2,/,dear,/' layers.csv >dear.csv
run plot hetero dear.csv -o x.svg
head -n 1 curves.csv >none.csv
run plot learning none.csv -o x.svg
run plot learning curves.csv --where shceduler=random -o x.svg
# Of methods of communication.
cat >trained-rows.csv <<..
point,shards,method,family,rule,period,seeds,status,accuracy_pct,accuracy_vs_base_half,traffic_MB,time_s,need_GBps,message
0,iid,gossip-1,gossip,,1,5,ok,72.83,0.4,275.76,36.7,6.9,
0,iid,gossip-16,gossip,,16,5,ok,72.86,0.4,17.15,16.29,0.43,
0,iid,drift,gossip,drift,,5,ok,72.83,0.4,22.4,16.49,0.56,
0,iid,easgd,easgd,,,5,diverged,,,,,,step 12
..
cat >loss.csv <<..
point,shards,method,seed,time_s,steps,epoch,loss,exchanges,traffic_MB,average_pct
0,iid,drift,1,0,0,0,2.3,0,0,
0,iid,drift,1,8,800,1,1.1,400,11,70
0,iid,drift,2,0,0,0,2.3,0,0,
0,iid,drift,2,8,800,1,1.2,420,12,71
..
for figure in gossip:trained-rows gossip_loss:loss gossip_need:trained-rows; do
    run plot ${figure%:*} ${figure#*:}.csv -o ${figure%:*}.svg
done
grep -Eo '>(gossip, fixed[^<]*|drift|16|[^<]* \[[^<]*\]|exchanges[^<]*|shards iid;[^<]*|0.43)<' gossip.svg gossip_loss.svg gossip_need.svg
run plot gossip loss.csv -o x.svg
sed 's/,17.15,/,some,/' trained-rows.csv >some.csv
run plot gossip some.csv -o x.svg
head -n 1 loss.csv >none.csv
run plot gossip_loss none.csv -o x.svg
printf 'point,method,status,need_GBps\n0,drift,ok' >cut.csv
run plot gossip_need cut.csv -o x.svg
run plot plans rows.csv -o x.svg
run plot speed rows.csv -o x.svg
run plot cost rows.csv -o x.svg
run plot speedup rows.csv -o x.svg --where network=none
run plot speedup rows.csv -o x.svg --where colour=red
run plot speedup nosuch.csv -o x.svg
run plot speedup study.yaml -o x.svg
ls
# Any columns, and the script instead of the image.
"$WEFT" sweep study.yaml -q -f -o rows.csv --set 'vary={total_GBps: [100, 200, 300]}'
run plot xy rows.csv --list | sed -n '1,3p;/^time_s/p;/^status/p'
run plot xy rows.csv --x total_GBps --y time_s --label time_s --of gp | sed -n "/'step over total'/p;/^plot/p"
"$WEFT" plot speedup rows.csv -o script.gp && grep -c 'set multiplot' script.gp
run plot xy rows.csv --x total_GBps --y nope
run plot xy rows.csv --x cost_usd --y status
run plot xy rows.csv --x cost_usd --y time_s --bars
run plot xy rows.csv --x total_GBps --y time_s --range-x 5:1
run plot xy rows.csv --top 0
run plot xy rows.csv --x total_GBps --y time_s --front up
run plot xy rows.csv --x total_GBps --y time_s --label nope
run plot xy rows.csv --x total_GBps --y time_s --where objective=utilization
run plot xy rows.csv --x total_GBps --y time_s --limit 'total_GBps >= 1000'
run plot xy rows.csv --x total_GBps --y time_s --limit 'total_GBps > 1'
# A limit is held to 1e-9 of what is compared, however small that is.
printf 'x,y\n1e-12,1\n1.0000000001e-12,2\n2e-12,3\n' >tiny.csv
run plot xy tiny.csv --x y --y x --limit 'x <= 1e-12' --of gp | sed -n '/<< EOD/,/^EOD/p'
run plot xy rows.csv --log x --linear
run plot xy rows.csv --y time_s --y cost_usd --x total_GBps --facet-rows objective
run plot xy rows.csv --x total_GBps --y time_s --y cost_usd --y speedup
run plot speedup rows.csv --join
