#!/bin/sh
# Studies of training with little communication: a row a point and method, tables beside them, the same on any
# number of threads; what is wrong is said where it stands; an interrupt leaves nothing. What is learned is no
# format: its numbers are shown as #.
echo "== the bandwidth that a method needs, in ports"
"$WEFT" gossip configs/studies/gossip-bandwidth.yaml -q --set learner.epochs=1 --set 'methods=[all-reduce]' --set 'vary={ clock.overlap: [false] }' |
    sed -n '/ports/,/^all-reduce/p'
cd "$TMPDIR" || exit 1
run() { echo "\$ weft $*"; "$WEFT" "$@" 2>&1; echo "exit $?"; }
learned() { "$WEFT" "$@" >out 2>&1; code=$?; echo "\$ weft $*"; sed -E -e 's/  +/  /g' -e 's/[-+]?[0-9.,]+ ± [0-9.]+/#/g' -e 's/ [-+][0-9][0-9.,]*/ #/g' -e 's/[-+]?[0-9]+\.[0-9]+/#/g' -e 's/at step [0-9]+/at step #/g' out; rm out; echo "exit $code"; }
cat >small.yaml <<..
name: small
network: switch:4@0.001
learner: { hidden: 8, batch: 16, epochs: 4 }
data: { train: 400, test: 100, features: 8, classes: 4, hidden: 8 }
methods:
  - { method: pair, period: [1, 4, 16] }
  - { method: pair, rule: drift, theta: 0.05, cap: 64 }
  - all-reduce
  - { method: local, period: 8, name: every eighth }
equal_points: 100
seeds: 3
seed: 11
..
echo "== one point"
learned gossip small.yaml
run gossip small.yaml --set seeds=1 --set methods='[pair]' --of json | sed -E -e 's/"study_hash": "[0-9a-f]*"/"study_hash": "HASH"/' -e '/"point"/s/: -?[0-9][^,]*/: #/g'
echo "== traffic and time that are more than the baseline's"
"$WEFT" gossip small.yaml --set baseline='pair 16' -q --wide | awk '/^all-reduce/ { for (i = 2; i <= NF; i++) if ($i ~ /^\+[0-9]/) print $i }'
echo "== what is compared and asked for"
learned gossip small.yaml --set compare=averaged --set need_pct=5 --set need_dim=dim1 --set methods='[{ method: pair, period: [1, 25] }]'
echo "== points"
learned gossip small.yaml --set vary='{shards: [iid, label-skew], workers: [2, 3]}' --set methods='[{method: pair, period: [2, 8]}]'
learned gossip small.yaml --set vary='{learner.rate: [0.05, 1e9]}' --set methods='[pair, all-reduce]'
echo "== a worker stands for a replica"
cat >npu.yaml <<..
name: an NPU
peak_TFLOPS: 100
mem_GBps: 1000
mem_GB: 2
..
cat >job.yaml <<..
name: job
network: switch:4@10
job:
  model: { name: small, layers: 4, hidden: 512, heads: 8, ffn: 2048, vocab: 1000, seq: 128 }
  npu: npu.yaml
  parallel: { batch: 16, micro_batch: 2 }
learner: { hidden: 8, batch: 16, epochs: 4 }
data: { train: 400, test: 100, features: 8, classes: 4, hidden: 8 }
methods: [all-reduce, { method: local, period: 64, name: never }]
clock: { jitter: 0 }
need_pct: 5
seeds: 1
..
run gossip job.yaml | sed -E 's/^(all-reduce|never) .* /\1 .. /'
run gossip job.yaml --set vary='{job.parallel.batch: [16, 4096]}' --set job.parallel.micro_batch=16 --set job.npu.mem_GB=0.1 | grep -E '^(each|point|exit)|warning'
run gossip job.yaml --set model_MB=1
run gossip job.yaml --set clock.step_ms=1
run gossip job.yaml --set job.npu=nowhere.yaml
run gossip job.yaml --set job.npu='{peak_TFLOPS: 100}'
run gossip job.yaml --set job.parallel.tp=2
run gossip job.yaml --set job.search='{}'
run keys "job of gossip"
echo "== tables beside the rows"
tables() { "$WEFT" gossip small.yaml --set vary='{shards: [iid, label-skew]}' -j "$1" -o "$2-rows.csv" --runs "$2-runs.csv" --curves "$2-curves.csv" --links "$2-links.csv"; }
tables 1 one && tables 4 four
for t in rows runs curves links; do
    cmp one-$t.csv four-$t.csv && echo "$t: the number of threads changes nothing"
    sed -e 's/=.*//' -e '/^[^#]/q' one-$t.csv
done
echo "== examples of one's own"
awk 'BEGIN { print "x,y,class"; for (i = 0; i < 80; i++) print i % 9 + (i % 2) * 20 "," i % 7 "," (i % 2 ? "b" : "a") }' >train.csv
sed 's/^1,.*/1,2/' train.csv >ragged.csv
cat >own.yaml <<..
network: switch:4@1
learner: { hidden: [], epochs: 5, batch: 4 }
data: { train_csv: train.csv, test_csv: train.csv, label: class }
methods: [{ method: local, period: 5 }]
..
run gossip own.yaml
run gossip own.yaml --set data.train_csv=ragged.csv
run gossip own.yaml --set data.train_csv=missing.csv
run gossip own.yaml --set data.label=colour
run gossip own.yaml --set drift_at=0.5
run gossip own.yaml --set data.train=100 -o /dev/null
echo "== what is wrong"
run gossip small.yaml --set methods='[pairs]'
run gossip small.yaml --set methods='[{method: pair, period: 0}]'
run gossip small.yaml --set methods='[{method: local, period: 16}, local]'
run gossip small.yaml --set methods='[{method: pair, tau: 3}]'
run gossip small.yaml --set baseline='pair 2'
run gossip small.yaml --set workers=5
run gossip small.yaml --set workers=3
run gossip small.yaml --set data.train=3
run gossip small.yaml --set methods='[{method: diloco, outer_momentum: 1}]'
run gossip small.yaml --set methods='[{method: adacomm, period: 9, cap: 8}]'
run gossip small.yaml --set server=4
run gossip small.yaml --set need_dim=rack
run gossip small.yaml --set compare=mean
run gossip small.yaml --set methods='[{method: pair, name: ""}]'
run gossip small.yaml --set data.test=1e9
run gossip small.yaml --set learner.hidden=abc
run gossip small.yaml --set network=switch:4
run gossip small.yaml --set learner.decay_at='[0.5, 0.25]'
run gossip small.yaml --set learner.hidden=0
run gossip small.yaml --set clock.step=10
run gossip small.yaml --set vary='{clock.step: [1]}'
run gossip small.yaml --set vary='{seeds: [1]}'
run gossip missing.yaml
: >empty.yaml
run gossip empty.yaml
printf '\001\377{{{' >rubbish.yaml
run gossip rubbish.yaml
echo "== keys without effect"
run gossip small.yaml --set learner.schedule=constant --set learner.decay=0.5 --set server=1 --set clock.slowdown=2 -o /dev/null
echo "== what there is"
run gossip --list | sed -n '/^Period:/,$p'
run gossip --columns
run keys "clock of gossip"
echo "== outputs"
run gossip small.yaml --runs same.csv --links same.csv
run gossip small.yaml -f --curves ./small.yaml
run gossip small.yaml --links nowhere/l.csv
run gossip small.yaml -o one-rows.csv
run gossip small.yaml -o /dev/full --runs left.csv
ls left.csv 2>/dev/null
run gossip small.yaml -j 0
run gossip
echo "== an interrupt writes nothing"
rm -f ./*-*.csv
timeout --foreground --preserve-status -s INT 2 "$WEFT" gossip small.yaml --set seeds=100000 -o long.csv --curves curves.csv
echo "exit $?"
ls
