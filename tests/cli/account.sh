#!/bin/sh
# One account of a step: of drawn plans in every model explain and sim print the same object, the row of a sweep has the same numbers, and
# its parts are the time. Only what differs is printed.
# shellcheck disable=SC1083,SC2020 # braces are YAML; sets of characters are meant
cd "$TMPDIR" || exit 1
cat >study.yaml <<..
network:
  npu: { peak_TFLOPS: 100, mem_GB: 80, mem_GBps: 1000 }
  dims:
    - { name: node, shape: ring, size: 4, bw_GBps: 20, latency_ns: 1000 }
    - { name: pod, shape: fat-tree, size: 4, radix: 4, taper: 2, bw_GBps: 5, latency_ns: 5000 }
split: given
workload:
  model: { layers: 8, hidden: 1024, heads: 8, vocab: 4096, seq: 512, attention: unfused, MOE }
  parallel: PLAN
model: MODEL
vary: { workload.traffic: [1] }
..
# Degrees multiply to 16; what is not legal is drawn again.
draw() {
    awk -v seed="$1" 'function pick(n) { return int(rand() * n) }
    BEGIN {
        srand(seed)
        tp = 2 ^ pick(3); pp = 2 ^ pick(3); cp = 2 ^ pick(2)
        plan = "batch: 32, tp: " tp ", pp: " pp ", cp: " cp ", zero: " pick(4)
        if (pick(2)) plan = plan ", ep: " 2 ^ pick(3)
        else if (pick(2)) plan = plan ", shard: 2"
        if (pick(2) && tp > 1) plan = plan ", seq_parallel: true"
        if (pick(2)) plan = plan ", recompute: full"
        if (pick(2)) plan = plan ", overlap_dp: true"
        if (pick(3) == 0) plan = plan ", step_overhead_s: 0.01"
        if (pick(3) == 0 && pp > 1) plan = plan ", interleave: 2"
        print "{ " plan " }"
    }'
}
step_of() { grep -o '"step": {.*"hfu": [^}]*}' "$1"; }
n=0 seed=0
while [ $seed -lt 60 ]; do
    seed=$((seed + 1))
    case $((seed % 3)) in 0) model=bandwidth ;; 1) model=alpha-beta ;; 2) model=chunk ;; esac
    sed -e "s/PLAN/$(draw $seed)/" -e "s/MODEL/$model/" -e "s/MOE/$([ $((seed % 4)) -lt 2 ] || echo moe: { experts: 8, top_k: 2, ffn: 2048 })/" study.yaml >one.yaml
    "$WEFT" sim one.yaml -q --of json >sim.json 2>/dev/null || continue
    n=$((n + 1))
    "$WEFT" explain one.yaml -q --of json >explain.json 2>/dev/null
    [ -n "$(step_of sim.json)" ] && [ "$(step_of sim.json)" = "$(step_of explain.json)" ] || echo "$seed: explain is not sim: $(sed -n '/parallel/p' one.yaml)"
    "$WEFT" sweep one.yaml -q -f -o row.csv 2>/dev/null
    step_of sim.json | tr '{},' '\n\n\n' >parts.txt
    # Names and values of the object, one a line; "tp": and the "time_s" on the next line are tp_s.
    awk -F'": ' 'NR == FNR {
            gsub(/^ *"/, "", $1)
            if ($2 == "") axis = $1 == "step" || $1 == "exposed" ? "" : $1
            else if ($1 == "time_s" && axis) value[axis "_s"] = $2
            else if (!($1 in value)) value[$1] = $2
            next
        }
        /^#/ { next }
        !n {
            n = split($0, name, ",")
            next
        }
        {
            gsub(/"[^"]*"/, "")
            split($0, cell, ",")
            for (i = 1; i <= n; i++) at[name[i]] = cell[i]
            k = split("time_s compute_s recompute_s bubble_s comm_s optimizer_s overhead_s tp_s cp_s ep_s dp_s pp_s mfu", want, " ")
            for (i = 1; i <= k; i++)
                if (at[want[i]] == "" || at[want[i]] != value[want[i]])
                    print seed ": " want[i] " is " at[want[i]] " in the row, " value[want[i]] " in sim"
            sum = at["compute_s"] + at["recompute_s"] + at["bubble_s"] + at["comm_s"] + at["optimizer_s"] + at["overhead_s"]
            axes = at["tp_s"] + at["cp_s"] + at["ep_s"] + at["dp_s"] + at["pp_s"]
            if ((sum - at["time_s"]) ^ 2 > (1e-12 * at["time_s"]) ^ 2) print seed ": parts are " sum ", the time is " at["time_s"]
            if ((axes - at["comm_s"]) ^ 2 > (1e-12 * at["time_s"]) ^ 2) print seed ": axes are " axes ", communication is " at["comm_s"]
        }' seed="$seed" parts.txt row.csv
done
[ $n -ge 30 ] && echo "one account"
