#!/bin/sh
# The split. One all-reduce of 100 MB over ring 4 and switch 8 sends 150 and 43.75 MB; the best split of B is
# in that ratio, and the step takes 1 ms of compute and 193.75 MB / B: 2.9375 ms at 100 GB/s.
cd "$TMPDIR" || exit 1
run() { echo "\$ weft $*"; "$WEFT" "$@" 2>&1; echo "exit $?"; }
# Numbers are not this test's business, nor is how small the gap is.
mask() { sed -e 's/"study_hash": "[0-9a-f]*"/"study_hash": "HASH"/' -e 's/\([:[ ] *\)-\{0,1\}[0-9][0-9.]*\(e[-+][0-9]*\)\{0,1\}\([],}]\)/\1N\3/g' -e 's/\(\[\)-\{0,1\}[0-9][0-9.]*\(e[-+][0-9]*\)\{0,1\}/\1N/g'; }
show() { "$WEFT" "$@" 2>&1 | sed 's/gap [^,]*/gap G/'; }
cat >some.yaml <<..
name: some
rates:
  - { tier: Node, link_usd_per_GBps: 4 }
  - { tier: Pod, link_usd_per_GBps: 8, switch_usd_per_GBps: 18, nic_usd_per_GBps: 32 }
..
cat >study.yaml <<..
name: example
network:
  dims:
    - { name: node, shape: ring, size: 4, tier: Node }
    - { name: pod, shape: switch, size: 8, tier: Pod, latency_ns: 500 }
parts: some.yaml
workload:
  name: toy
  step: { sum: [ { compute_ms: 1 }, { all-reduce: { size_MB: 100, group: all } } ] }
total_GBps: 100
constraints:
  - node >= pod
..
echo "== text, and a warning for a key without effect"
show alloc study.yaml
echo "== every objective"
for objective in utilization perf_per_cost; do
    show alloc study.yaml -q --set objective=$objective
done
sed '/^total/d' study.yaml >free.yaml
show alloc free.yaml -q --set objective=cost --set time_limit_s=0.0029375
echo "== shadow prices: more of a budget saves, more of a demand costs"
show alloc study.yaml -q --set 'constraints=[usd <= 40e3, pod >= 12]' | sed -n '/^constraints/,$p'
echo "== equally good splits"
show alloc free.yaml -q --set 'constraints=[node == 50, pod <= 70]' \
    --set 'workload={name: one, groups: {g: {members: [4, 1]}}, step: {all-reduce: {size_MB: 1, group: g}}}' |
    sed -n '/^dim/,/^$/p'
echo "== two workloads: sum, regret"
workloads='workloads=[{workload: {name: a, step: {all-reduce: {size_MB: 100, group: all}}}, weight: 2}, {workload: {name: b, groups: {p: {members: [1, 8]}}, step: {all-reduce: {size_MB: 100, group: p}}}}]'
sed '/^workload/,/^  step/d' study.yaml >two.yaml
show alloc two.yaml -q --set "$workloads"
show alloc two.yaml -q --set "$workloads" --set combine=regret
echo "== JSON"
"$WEFT" alloc study.yaml -q --of json | mask
"$WEFT" alloc two.yaml -q --of json --set "$workloads" --set combine=regret | mask
echo "== numbers of JSON to five digits, units and all: 77.419 GB/s and 22.581, 2.9375 ms"
five() {
    sed -e 's/"study_hash": "[0-9a-f]*"/"study_hash": "HASH"/' -e 's/"\(gap\|iterations\|lower_bound\|violation\)": [^,}]*/"\1": .../g' |
        awk '{
            out = ""
            while (match($0, /-?[0-9]+\.[0-9]*(e[-+]?[0-9]+)?/)) {
                out = out substr($0, 1, RSTART - 1) sprintf("%.5g", substr($0, RSTART, RLENGTH))
                $0 = substr($0, RSTART + RLENGTH)
            }
            print out $0
        }' | sed 's/, "/,\n  "/g'
}
"$WEFT" alloc study.yaml -q --of json | five
"$WEFT" alloc study.yaml -q --of json --set 'constraints=[usd <= 40e3, pod >= 12]' --set objective=perf_per_cost | five | grep -v '"weft"\|"command"'
"$WEFT" alloc two.yaml -q --of json --set "$workloads" --set combine=regret | five | sed -n '/"workloads"/,$p'
hidden='workload={name: hidden, step: {max: [{compute_ms: 7.7}, {all-reduce: {size_MB: 100, group: all}}]}}'
show alloc study.yaml -q --set "$hidden"
echo "== CSV is a row of a sweep"
"$WEFT" alloc study.yaml -q --of csv | sed -e 's/study_hash=.*/study_hash=HASH/' -e '/^0,/d'
echo "== vary: a design per point"
show alloc study.yaml -q --set 'vary={total_GBps: [100, 200], objective: [time]}' | sed -n '/^example/,/^$/p'
"$WEFT" alloc study.yaml -q --of json --set 'vary={total_GBps: [100, 200], objective: [time]}' | mask | cut -c 1-350
"$WEFT" alloc study.yaml -q --of csv --set 'vary={total_GBps: [100, 200], objective: [time]}' | sed '/^#/d' | cut -c 1-30
echo "== points that are wrong are told, the others shown; the exit code is that of the worst"
wrong='vary={constraints: [[], [pod >= 60, node >= 50], [node == 50, nope <= 1]], total_GBps: [100]}'
for of in csv json text; do
    "$WEFT" alloc study.yaml -q --of $of --set "$wrong" >some.$of
    echo "exit $?"
done
sed '/^#/d' some.csv | sed 's/,\(status\|solved\|infeasible\|error\),.*/ \1/'
grep -o '"status": "[a-z]*"' some.json
grep -c '^example' some.text
"$WEFT" alloc study.yaml -q --of csv --set 'vary={constraints: [[pod >= 60, node >= 50], []]}' | grep -c solved
"$WEFT" alloc study.yaml -q --of json --set 'vary={constraints: [[pod >= 60, node >= 50], []]}' >/dev/null
echo "exit $?"
echo "== a model that does not fit is told for each point"
cat >model.yaml <<..
network:
  npu: { peak_TFLOPS: 20, mem_GB: 80, mem_GBps: 400, matrix_efficiency: 0.5 }
  dims: [ { name: a, shape: ring, size: 4 }, { name: b, shape: switch, size: 2 } ]
total_GBps: 100
workload: { name: w, model: { layers: 4, hidden: 512, heads: 4, vocab: 512, seq: 256 }, parallel: { batch: 64 } }
vary: { network.npu.mem_GB: [ 80, 0.01 ] }
..
run alloc model.yaml --of csv -o model.csv
sed '/^#/d' model.csv | cut -d, -f 1-2
echo "== no such design: exit 4 and why"
clash="constraints=[pod >= 60, node >= 50]"
run alloc study.yaml -q --set 'constraints=[pod >= 60, node >= 50, pod <= 90]'
"$WEFT" alloc study.yaml -q --of json --set "$clash" >infeasible
echo "exit $?"
mask <infeasible
run alloc study.yaml -q --of csv -o row.csv --set "$clash"
sed '/^#/d' row.csv | cut -d, -f 1-8
run alloc free.yaml -q
run alloc free.yaml -q --set objective=perf_per_cost
run alloc free.yaml -q --set objective=cost --set time_limit_s=0.0005
echo "== -v says what was done"
"$WEFT" alloc study.yaml -q -v -o v.txt 2>&1 | sed -e 's/in [0-9.]* ms/in T ms/' -e 's/[0-9]* Newton/N Newton/'
