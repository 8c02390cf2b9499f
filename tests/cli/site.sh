#!/bin/sh
# Machines that fill a site: count: max beside all counts, and the search of plans beside all plans, on spaces of the form of 20MW.yaml.
ROOT=$PWD/configs
cd "$TMPDIR" || exit 1
say() { echo "== $1"; shift; "$WEFT" "$@" -q 2>&1; echo "exit $?"; }
study() { # LIMITS COUNT
    cat <<..
name: site
network: $ROOT/networks/hgx-h100.yaml
split: given
workload: { step: { compute_ms: 1 } }
system: { checkpoint: { size_GB: 100 }, step_tokens: 1e6 }
vary:
  workload.step.compute_ms: [1, 2]
  union:
    - network: [$ROOT/networks/hgx-h100.yaml, $ROOT/networks/hgx-b300.yaml]
      network.dims[1].size: { from: 2, to: 400, step: 1$2 }
    - network: [$ROOT/networks/gb200-nvl72.yaml, $ROOT/networks/gb300-nvl72.yaml]
      network.dims[1].size: { from: 2, to: 40, step: 1$2 }
  zip:
    network.dims[1].tier: [InterRail, InterRailEthernet]
    network.dims[1].bw_GBps: [50, 200]
keep: { where: [$1], top: { n: 100000, by: time_s } }
..
}
# Fields of awk, not of the shell.
# shellcheck disable=SC2016
cell='{ print $(col["network"]) " " $(col["network.dims[1].tier"]) " " $(col["workload.step.compute_ms"]), $(col["network.dims[1].size"]) }'
for limits in '"watt_site <= 4e6"' '"usd_year <= 50e6"' '"racks + racks_network <= 36"' '"watt_site <= 4e6", "usd_year <= 35e6", "goodput >= 0.1"'; do
    study "$limits" "" >all.yaml
    study "$limits" ", count: max" >max.yaml
    for s in all max; do
        "$WEFT" sweep $s.yaml -q -o $s.csv -f 2>/dev/null
        sed '/^#/d' $s.csv | awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) col[$i] = i; next } '"$cell" | sort >$s.rows
    done
    # Of each machine the largest count that is kept.
    awk '{ k = $1 " " $2 " " $3; if ($4 > most[k]) most[k] = $4 } END { for (k in most) print k, most[k] }' all.rows | sort >largest
    sort -u max.rows | cmp -s - largest && echo "$limits: count: max are the largest of all counts, $(wc -l <largest) of $(wc -l <all.rows) rows"
done
sed 's/.*networks.//; s/.yaml//' largest
echo "== what cannot be filled"
study '"time_s <= 4"' ", count: max" >none.yaml
say "no limit on the site" sweep none.yaml
study '"watt_site <= 4e9"' ", count: max" >loose.yaml
say "one that does not bind" sweep loose.yaml
study '"watt_site <= 1"' ", count: max" >tight.yaml
say "nothing is within" sweep tight.yaml | sed "s,$ROOT/,,"
sed 's/bw_GBps: 50, //' "$ROOT/networks/hgx-h100.yaml" | sed "s,\.\./,$ROOT/," >opened.yaml
sed "/split:/d; /bw_GBps: .50/d; s,$ROOT/networks/[a-z0-9-]*.yaml,opened.yaml,g" max.yaml >open.yaml
say "bandwidths that are open" sweep open.yaml
vary() { sed '/^vary/,/bw_GBps: .50/d' max.yaml; echo "vary: $1"; }
vary '{ zip: { "network.dims[1].size": { from: 2, to: 9, step: 1, count: max }, "network.dims[1].bw_GBps": { from: 2, to: 9, step: 1 } } }' >moved.yaml
say "keys that move together" sweep moved.yaml
vary '{ "network.dims[1].size": { from: 2, to: 400, step: 1, count: max }, "network.dims[1].planes": { from: 1, to: 9, step: 1, count: max } }' >two.yaml
say "two axes" sweep two.yaml
vary '{ sobol: { points: 4, keys: { "network.dims[1].bw_GBps": { from: 2, to: 9, count: max } } } }' >samples.yaml
say "samples" sweep samples.yaml
vary '{ "network.dims[1].size": { from: 2, to: 400, step: 1, count: min } }' >least.yaml
say "not all values, but least" sweep least.yaml
sed 's/^system.*//' max.yaml >unowned.yaml
say "without system" sweep unowned.yaml
vary '{ "network.dims[0].size": { from: 4, to: 64, step: 4, count: max } }' | sed 's,^network:.*,network: { npu: { usd: 1 @ watt: 700 } @ dims: [ { name: a @ shape: ring @ size: 4 @ bw_GBps: 50 @ tier: A } ] },; s/ @/,/g' >dark.yaml
echo 'parts: { catalogue: [ { name: l, kind: link, bw_GBps: 50, usd: 1 } ], build: [ { tier: A, end_link: l } ] }' >>dark.yaml
say "power that is not known" sweep dark.yaml
echo "== the plans of the search are all plans"
plans() { # PARALLEL REST
    cat <<..
name: plans
network: $ROOT/networks/hgx-h100.yaml
model: alpha-beta
split: given
workload: { model: $ROOT/models/llama3-405b.yaml, parallel: { batch_Mtokens: 16.5, mem_margin: 0.05$1 } }
system: { checkpoint: { store_GBps: 100 } }
vary:
  workload.parallel.batch_Mtokens: [16.515072, 18.874368]
  network: [$ROOT/networks/hgx-b300.yaml, $ROOT/networks/gb300-nvl72.yaml]
  network.dims[1].size: [56, 63]
$2
keep: { front: [max:tokens_per_s, usd_per_Mtoken], where: ["watt_site <= 12e6"], per: [network] }
..
}
plans "" "" | sed "/^workload/s/ }\$/, search: { top: 1, tp: [8], cp: [1], micro_batch: [1], recompute: [none], zero: [1, 2] } }/" >search.yaml
plans ", tp: 8" "  workload.parallel.pp: [1, 2, 3, 4, 6, 7, 8, 9, 12, 14, 18, 21, 63]
  workload.parallel.interleave: [1, 2, 3, 4, 6, 7, 9, 14, 18, 21, 42, 63]
  workload.parallel.seq_parallel: [false, true]
  workload.parallel.ends: [equal, short]
  workload.parallel.zero: [1, 2]" >brute.yaml
for s in search brute; do
    "$WEFT" sweep $s.yaml -q -o $s.csv
    sed '/^#/d' $s.csv | awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) col[$i] = i; next }
        { n = split($(col["network"]), part, "/"); print part[n], $(col["network.dims[1].size"]), $(col["workload.parallel.batch_Mtokens"]), $(col["tokens_per_s"]) }' | sort -u >$s.rows
done
diff search.rows brute.rows && cat search.rows
# DRAWS=N: of so many spaces drawn, one model and product each, the best of all counts, batches and searched plans is that of all plans written out.
echo "== drawn sites: counts, batches and plans"
drawn() { # REST: the study with the numbers of a draw
    cat <<..
name: drawn
network: $ROOT/networks/$product.yaml
model: alpha-beta
split: given
workload: { model: $ROOT/models/llama3-8b.yaml, parallel: { batch_Mtokens: 1, mem_margin: 0.05$1 }$2 }
system: { checkpoint: { store_GBps: 100 } }
vary:
  workload.parallel.batch_Mtokens: [$batches]
  network.dims[1].size: { from: $step, to: $((6 * step)), step: $step }
$3
keep: { where: ["watt_site <= ${watts}e3"], front: [max:tokens_per_s], per: [workload.parallel.batch_Mtokens] }
..
}
state=${SEED:-35}
draw() { # N: 0 to N - 1
    state=$(((state * 1103515245 + 12345) % 2147483648))
    drawn=$((state / 65536 % $1))
}
best_of() { # NAME
    "$WEFT" sweep "$1.yaml" -q -f -o "$1.csv" 2>/dev/null
    sed '/^#/d' "$1.csv" | awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) col[$i] = i; next }
        { print $(col["network.dims[1].size"]), $(col["workload.parallel.batch_Mtokens"]), $(col["tokens_per_s"]) }' | sort -u
}
i=0
while [ "$i" -lt "${DRAWS:-3}" ]; do
    i=$((i + 1))
    draw 4 && product=$(echo hgx-h100 hgx-h200 hgx-b200 hgx-b300 | cut -d' ' -f$((drawn + 1)))
    draw 4 && step=$((drawn + 1))
    draw 5 && batches=$(awk -v k=$((drawn + 1)) 'BEGIN { printf "%.6f, %.6f, %.6f", 0.262144 * k, 0.262144 * (k + 2), 0.393216 * k }')
    draw 50 && watts=$((step * (50 + drawn)))
    drawn "" ", search: { top: 1, tp: [1, 2, 4, 8], cp: [1], micro_batch: [1], recompute: [none], zero: [1, 2] }" "" >search.yaml
    drawn "" "" "  workload.parallel.tp: [1, 2, 4, 8]
  workload.parallel.pp: [1, 2, 4, 8, 16, 32]
  workload.parallel.interleave: [1, 2, 4, 8, 16, 17]
  workload.parallel.seq_parallel: [false, true]
  workload.parallel.ends: [equal, short]
  workload.parallel.zero: [1, 2]" >brute.yaml
    best_of search >search.rows
    best_of brute >brute.rows
    [ -s brute.rows ] || echo "draw $i: nothing"
    diff search.rows brute.rows && echo "$product, steps of $step, $watts kW: $(wc -l <brute.rows) best machines"
done
echo "== 20MW.yaml beside all counts, batches and plans; SOAK=1: of every product and NIC"
site=$ROOT/studies/20MW.yaml
"$WEFT" sweep "$site" -q -o site.csv 2>/dev/null
fastest() { # FILE NETWORK
    sed '/^#/d' "$1" | awk -F, -v network="$2" 'NR == 1 { for (i = 1; i <= NF; i++) col[$i] = i; next }
        index($(col["network"]), network) && $(col["tokens_per_s"]) > most { most = $(col["tokens_per_s"]); row = network " " $(col["network.dims[1].size"]) " " $(col["workload.parallel.batch_Mtokens"]) " " most }
        END { if (most) print row }'
}
# The batches of the study, and the values of NICs that move together.
batches=$(sed -n 's/^  workload.parallel.batch_Mtokens: *//p' "$site")
nics=$(sed -n '/^  zip:/,/^keep/s/^    \([^:]*\)/"\1"/p' "$site" | paste -sd, -)
counts() { # NETWORK COUNTS NICS
    "$WEFT" sweep "$site" -q -f -o counts.csv --set "vary={network: [$ROOT/networks/$1.yaml], \"network.dims[1].size\": $2, workload.parallel.batch_Mtokens: $batches, zip: {$3}}" 2>/dev/null
    fastest counts.csv "$1" >all.fastest
    [ -s all.fastest ] || echo "$1: no design"
    fastest site.csv "$1" | diff - all.fastest
}
first='"network.dims[1].tier": [InterRail], "network.dims[1].bw_GBps": [50], "network.dims[1].planes": [1]'
counts gb300-nvl72 '{ from: 64, to: 136, step: 8 }' "$first" && cat all.fastest
if [ -n "$SOAK" ]; then
    for network in gb200-nvl72 gb300-nvl72; do counts "$network" '{ from: 8, to: 136, step: 8 }' "$nics"; done
    for network in hgx-h100 hgx-h200 hgx-b200 hgx-b300; do counts "$network" '{ from: 16, to: 1440, step: 16 }' "$nics"; done
fi
"$WEFT" sweep "$site" -q -o fastest.csv --set "vary={network: [$ROOT/networks/gb300-nvl72.yaml], \"network.dims[1].size\": [120], workload.parallel.batch_Mtokens: [17.69472], zip: {$first},
  workload.parallel.pp: [1, 2, 3, 4, 6, 8, 9, 18], workload.parallel.interleave: [1, 2, 3, 4, 7, 8, 9, 14, 16, 18, 21, 32, 42, 63, 64], workload.parallel.seq_parallel: [false, true],
  workload.parallel.ends: [equal, short], workload.parallel.recompute: [none, full], workload.parallel.zero: [1, 2]}" \
    --set "workload={model: $ROOT/models/llama3-405b.yaml, parallel: {batch_Mtokens: 17.69472, tp: 8, software: megatron, mem_margin: 0.05}}" 2>/dev/null
fastest fastest.csv gb300-nvl72
