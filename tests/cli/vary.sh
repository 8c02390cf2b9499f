#!/bin/sh
# What varies: the examples of docs/sweep.md as they stand there, and each form of axes in every format.
root=$PWD
cd "$TMPDIR" || exit 1
# How long a sweep takes is another thing every time.
run() { echo "\$ weft $*"; "$WEFT" "$@" >out 2>&1; rc=$?; grep -v 'weft sweep: estimate: ' out; echo "exit $rc"; }

echo "== examples of docs/sweep.md"
# The first block is what all others begin with.
awk '/^## /{on = /What varies|What is kept|Given bandwidths/} on && /^```yaml/{n++; file = "block" n; next} /^```/{file = ""} file {print >file}' \
    "$root/docs/sweep.md"
n=2
while [ -f block$n ]; do
    cat block1 block$n >example.yaml
    run sweep example.yaml --dry-run
    n=$((n + 1))
done

echo "== formats"
cat >study.yaml <<..
network: ring:4 switch:8
workload:
  name: toy
  step: { sum: [ { compute_ms: 1 }, { all-reduce: { size_MB: 100, group: all } } ] }
total_GBps: 100
vary:
  model: [bandwidth, alpha-beta]
  union:
    - zip: { total_GBps: [100, 200], objective: [time, utilization] }
    - network: { factor: { npus: 8, dims: 2, shapes: [ring], tiers: [ { name: in, latency_ns: 10 }, { name: out } ] } }
..
run sweep study.yaml --dry-run
run sweep study.yaml --dry-run --of csv
run sweep study.yaml --dry-run --of json
"$WEFT" sweep study.yaml --of csv | sed -n -e '/^#/d' -e 's/^\([^,]*,[^,]*,[^,]*,[^,]*,[^,]*,[^,]*,[^,]*,[^,]*\),.*/\1/p'

echo "== points that where leaves out have no design"
"$WEFT" alloc study.yaml --of json --set 'where=[n_npus <= 8, size1 >= 4]' | grep -o '"vary": .*"status"'
sed '/^vary/,$d' study.yaml >fixed.yaml
echo 'where: [n_npus <= 8]' >>fixed.yaml
run alloc fixed.yaml --of json -o fixed.json

echo "== an override takes the place of values everywhere"
run sweep study.yaml --dry-run --set total_GBps=50 --set model=bandwidth
run sweep study.yaml --dry-run --set 'network=ring:4'

echo "== refused"
run sweep study.yaml --dry-run --set 'vary={zip: {total_GBps: [1, 2], objective: [time]}}'
run sweep study.yaml --dry-run --set 'vary={zip: {}}'
run sweep study.yaml --dry-run --set 'vary={network: {factor: {npus: 13, dims: 2}}}'
run sweep study.yaml --dry-run --set 'where=[totl_GBps <= 5]'

echo "== a bandwidth that a later axis replaces is not the row's: keep has what is within its limit"
cat >replaced.yaml <<..
network: { dims: [ { name: node, shape: ring, size: 4, bw_GBps: 90 }, { name: pod, shape: full, size: 4, bw_GBps: 30 } ] }
workload: { step: { all-reduce: { size_MB: 100, group: all } } }
split: given
vary:
  network.dims.node.bw_GBps: { from: 27, to: 300, points: 17, scale: log }
  network.dims.pod.bw_GBps: { from: 19, to: 150, points: 23 }
  network.dims: [ "ring:4@90 full:4@30", "switch:8@50", "ring:4@90 full:4@31" ]
..
"$WEFT" sweep replaced.yaml -q --of csv --set keep.where='["total_GBps <= 120"]' -o kept.csv
"$WEFT" sweep replaced.yaml -q --of csv -o all.csv
awk -F, '/^#/ { next } !c { for (i = 1; i <= NF; i++) if ($i == "total_GBps") c = i; next } $c <= 120 { n++ } END { print n }' all.csv
grep -vc '^#\|^point' kept.csv
