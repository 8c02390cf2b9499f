#!/bin/sh
# A step at given bandwidths: 1 ms of compute and one all-reduce of 100 MB, 150 MB over 100 GB/s on the ring
# and 43.75 MB over 50 GB/s on the switch; latency 2 x 3 x 700 ns and 2 x 3 x 2000 ns.
# shellcheck disable=SC2069 # standard error alone is shown
cd "$TMPDIR" || exit 1
run() { echo "\$ weft $*"; "$WEFT" "$@" 2>&1; echo "exit $?"; }
hash() { sed 's/"study_hash": "[0-9a-f]*"/"study_hash": "HASH"/'; }
cat >study.yaml <<..
network:
  dims:
    - { name: node, shape: ring, size: 4, bw_GBps: 100, latency_ns: 700 }
    - { name: pod, shape: switch, size: 8, bw_GBps: 50, latency_ns: 2000 }
workload:
  name: toy
  step: { sum: [ { compute_ms: 1 }, { all-reduce: { size_MB: 100, group: all } } ] }
..
run sim study.yaml --model bandwidth
run sim study.yaml --model alpha-beta
run sim study.yaml --model all
"$WEFT" sim study.yaml --model all --of json -q | hash
run sim study.yaml --model all --of csv -q -o sim.csv
sed '/^#/d' sim.csv
echo "== two workloads: steps of 1 + 3 and 2 + 1.5 ms, the second counts twice"
cat >two.yaml <<..
network: "ring:4@50 switch:8@50"
workloads:
  - workload: { name: one, step: { sum: [ { compute_ms: 1 }, { all-reduce: { size_MB: 100, group: all } } ] } }
  - { weight: 2, workload: { name: two, step: { sum: [ { compute_ms: 2 }, { all-reduce: { size_MB: 50, group: all } } ] } } }
..
run sim two.yaml -q
echo "== bandwidths that are not there"
sed 's/bw_GBps: 50, //' study.yaml >open.yaml
run sim open.yaml
run sim open.yaml --split --set total_GBps=150 -q
run sim open.yaml --split --set total_GBps=50 -q
"$WEFT" sim open.yaml --split --set total_GBps=50 -q --of json 2>/dev/null | hash
echo "== a timeline of slots, of arrows, and of a formula"
run sim study.yaml -q --set simulation.active_chunks=2 --model chunk --timeline slots.json -o slots.txt
grep -o '"name": "[^"]*beside[^"]*"' slots.json | sort | uniq -c
run sim study.yaml -q --set simulation.chunks=20 --model chunk --timeline arrows.json -o arrows.txt
echo "arrows that begin and end once, with all between; others:"
grep -o '"ph": "[stf]".*"id": [0-9]*' arrows.json | awk '
    { ph = $2; id = $NF; seen[id] = seen[id] substr(ph, 2, 1) }
    END { for (id in seen) seen[id] ~ /^st*f$/ ? good++ : bad++; print good + 0, bad + 0 }'
echo "rows by name: bars, us, bytes, waited us; arrows that start where a bar of their row does; rows and processes without a name:"
for t in slots arrows; do
    awk '
        function after(key, what) { return match($0, "\"" key "\": " what) ? substr($0, RSTART + length(key) + 4, RLENGTH - length(key) - 4) : 0 }
        function number(key) { return after(key, "[-+.0-9e]+") }
        !/"ph": / { next }
        { process = number("pid"); row = process ":" number("tid"); seen[row] = process; place = row ":" number("ts") }
        /"process_name"/ { of[process] = after("args", ".*") }
        /"thread_name"/ { name[row] = after("args", ".*") }
        /"ph": "X"/ { bars[row]++; us[row] += number("dur"); bytes[row] += number("bytes"); waited[row] += number("waited_us"); starts[place] }
        /"ph": "[stf]"/ { arrow[++n] = place }
        END {
            for (row in seen) {
                if (row in bars) printf "%s %s: %d, %.3f, %.0f, %.3f\n", of[seen[row]], name[row], bars[row], us[row], bytes[row], waited[row]
                unnamed += !(row in name && seen[row] in of)
            }
            for (i = 1; i <= n; i++) good += arrow[i] in starts
            print good + 0 " of " n + 0 " arrows, " unnamed " without a name"
        }' <$t.json | sort
done
run sim study.yaml -q --model chunk --set simulation.semantics=astra-sim-2 --timeline formula.csv -o none.txt
grep -c "^toy,chunk" formula.csv
echo "== a network alone has no step"
run sim ring:4@100

echo "== a group that would fill a leaf and part of another"
cat >uneven.yaml <<..
network: { dims: [ { name: leaf, shape: fat-tree, sizes: [32, 3], taper: 2, bw_GBps: 50 } ] }
workload: { name: w, groups: { tp: { size: 48 }, dp: { after: tp } },
  step: { sum: [ { all-to-all: { size_MB: 100, group: tp } }, { all-reduce: { size_MB: 100, group: dp } } ] } }
..
for m in bandwidth chunk flow; do
    run sim uneven.yaml --model $m
done
run sim uneven.yaml --set workload.groups.tp.size=36
run sim uneven.yaml --set workload.groups.tp.size=40
echo "== links that are loaded unevenly: by how much, where it matters"
cat >uneven.yaml <<..
network: dragonfly:1x7x3^1@10
workload: { step: { all-to-all: { size_MB: 1, group: all } } }
..
"$WEFT" sim uneven.yaml 2>&1 >/dev/null
"$WEFT" sim uneven.yaml --set 'network=dragonfly:4x64x32^16@10' 2>&1 >/dev/null
echo "== which model is asked before anything is timed: here no flow can be"
cat >long.yaml <<..
network: "ring:64@100 ring:64@50 ring:64@50"
model: flow
workload: { step: { all-to-all: { size_MB: 100, group: all } } }
..
run sim long.yaml --model bandwidth --links links.csv
run sim long.yaml --links links.csv

echo "== rounds of flows, where they count and what they may be"
"$WEFT" sim study.yaml --model flow -q --set simulation.round=0.01 | grep 'too late'
run sim study.yaml --model alpha-beta --set simulation.round=0.01 | grep warning
run sim study.yaml --model flow --set simulation.round=0.2
