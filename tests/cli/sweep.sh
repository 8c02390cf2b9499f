#!/bin/sh
# Sweeps: one row a point, the same on any number of threads; a bad point is a row, an interrupt leaves nothing.
cd "$TMPDIR" || exit 1
# How long a sweep would take differs from run to run.
run() { echo "\$ weft $*"; "$WEFT" "$@" >out.txt 2>&1; code=$?; sed 's/estimate: .*)$/estimate: TIME/' out.txt; rm out.txt; echo "exit $code"; }
cat >study.yaml <<..
network: ring:4 switch:8
workload:
  name: toy
  step: { sum: [ { compute_ms: 1 }, { all-reduce: { size_MB: 100, group: all } } ] }
vary:
  total_GBps: { from: 100, to: 300, step: 100 }
  network: ["ring:4 switch:8", "full:4 ring:2 switch:4"]
  model: [bandwidth]
..
run sweep --columns
run sweep study.yaml --dry-run
run sweep study.yaml --dry-run --of csv
run sweep study.yaml --dry-run --of json
run sweep study.yaml
"$WEFT" sweep study.yaml --of csv | sed -n -e 's/study_hash=.*/study_hash=HASH/' -e '1,7p'
"$WEFT" sweep study.yaml --of json | sed -e 's/"study_hash": "[0-9a-f]*"/"study_hash": "HASH"/' -e 's/"n_dims.*//'
"$WEFT" sweep study.yaml -j 1 -o one.csv && "$WEFT" sweep study.yaml -j 7 -o seven.csv && cmp one.csv seven.csv &&
    echo "the number of threads changes nothing"
echo "== the time that a sweep takes has no cap"
"$WEFT" sweep study.yaml --set 'vary={total_GBps: {from: 1, to: 2, points: 1000000}, network: ["ring:4 switch:8"], seed: {from: 1, to: 1000000, step: 1}}' \
    --dry-run 2>&1 | awk '/estimate/ { gsub(/[(,]/, "", $9); s = $4 * ($5 == "years" ? 31536000 : 86400); right = $9 * 1e6 / $7
        print (s / right > 0.9 && s / right < 1.1 ? "as points times their time" : $0) }'
echo "== an override takes the place of its axis"
run sweep study.yaml --set total_GBps=50 --dry-run
echo "== points without a design"
run sweep study.yaml --set 'vary={constraints: [[], [dim1 >= 200], [dim9 >= 1]]}' --set total_GBps=100
run sweep study.yaml --set 'vary={constraints: [[dim1 >= 200]]}' --set total_GBps=100
run sweep study.yaml --set 'vary={constraints: [[dim9 >= 200]]}' --set total_GBps=100 -o rows.csv
wc -l <rows.csv
echo "== nothing to sweep"
sed '/^vary/,$d' study.yaml >fixed.yaml
run sweep fixed.yaml
run sweep study.yaml --set 'vary={totl_GBps: [1]}' --dry-run
run sweep study.yaml --set 'vary={total_GBps: {from: 1, to: 2}}' --dry-run
echo "== an interrupt writes nothing"
# timeout and not kill: a shell starts background commands with SIGINT ignored.
# What a study leaves out, and what a sample of it cannot solve, is said.
run sweep study.yaml --set 'where=[total_GBps >= 1000]' -o none.csv
run sweep study.yaml --dry-run --set 'vary={total_GBps: [100, 200], constraints: [[dim1 >= 500]]}'
timeout --foreground --preserve-status -s INT 2 "$WEFT" sweep study.yaml --set 'vary.total_GBps={from: 1, to: 2, points: 490000}' -o long.csv
echo "exit $?"
ls
