#!/bin/sh
# Owning the whole machine: sums and failures in sim, alloc, explain and sweep, and what is refused.
study=$PWD/configs/studies/llama3-owned.yaml
cd "$TMPDIR" || exit 1
cat >study.yaml <<..
network:
  npu: { usd: 20000, watt: 700 }
  dims:
    - { name: node, shape: ring, size: 4, tier: N }
    - { name: pod, shape: switch, size: 8, tier: P }
parts:
  grade: V
  catalogue:
    - { name: nic, kind: nic, ports: 1, bw_GBps: 50, usd: 1000, watt: 20 }
    - { name: box, kind: switch, ports: 64, bw_GBps: 50, usd: 10000, watt: 500, mtbf_h: 1e5 }
    - { name: end, kind: link, bw_GBps: 50, usd: 100, watt: 10 }
    - { name: fluid, kind: link, bw_GBps: 1, usd: 4 }
  build:
    - { tier: N, end_link: fluid }
    - { tier: P, nic: nic, switch: box, end_link: end }
workload: { step: { all-reduce: { size_MB: 16, group: all } } }
total_GBps: 150
system:
  npus_per_node: 4
  items: [ { name: disks, per: node, usd: 1000, watt: 100 } ]
  checkpoint: { size_GB: 200 }
  step_tokens: 1000
  run_steps: 5000
..
say() { echo "== $1"; shift; "$WEFT" "$@" 2>&1; echo "exit $?"; }
own() { sed -n '/^owning it/,$p'; }
echo "== alloc, sim and explain say the same of one design"
"$WEFT" alloc study.yaml | own
"$WEFT" explain study.yaml | own
"$WEFT" alloc study.yaml --of json | sed 's/.*"system": //; s/, "iterations".*//'
"$WEFT" sim study.yaml --split --of csv | tail -1 | tr , "\n" | tail -11
"$WEFT" sim study.yaml --split --of json | grep -o minute_of_restart_share || echo "what a change is worth is left to explain"
echo "== rows"
"$WEFT" sweep study.yaml --set 'vary={total_GBps: [100, 150], system.pue: [1.1, 1.5]}'
"$WEFT" sweep study.yaml --set 'vary={total_GBps: [100, 150]}' -q -o rows.csv && sed '/^#/d' rows.csv | tr , '\n' | grep -n usd_
"$WEFT" front rows.csv --by usd_per_Mtoken,cost_usd 2>&1 | tail -4
echo "== a run of 16,384, without what depends on the time of a step"
"$WEFT" explain "$study" 2>/dev/null | sed -n '/^owning it/,/^Restarts a minute/p' | sed '/^what it is made of/,/^$/d' | grep -v '^  tokens\|^  the run\|^  effective'
echo "== what a minute of every restart is worth is what a token then costs less"
usd() { "$WEFT" explain "$study" -q --set system.checkpoint.restart_s="$1" --of json | grep -o "\"$2\": [^,}]*" | sed 's/.* //; q'; }
echo "$(usd 600 minute_of_restart_share) $(usd 600 usd_per_Mtoken) $(usd 540 usd_per_Mtoken)" |
    awk '{ off = $1 - (1 - $3 / $2); print($1 > 0.005 && off * off < 1e-16 ? "so it is" : "no: " $0) }'
echo "== peers in memory, over the network, with stragglers and planned stops"
"$WEFT" sim study.yaml --split --set 'system.checkpoint={size_GB: 200, over: pod, tiers: [{name: peers, share: 0.9, interval_s: 60, stall_s: 0.04, restart_s: 120}]}' \
    --set system.straggler_loss=0.02 --set system.planned_stops_month=20 --set system.mtbf.npu_h=500 | grep -v '^  effective' | sed -n '/^failures/,$p'
echo "== spares, capital that costs nothing, a checkpoint never"
"$WEFT" sim study.yaml --split --set system.spare_nodes=1 --set system.repair_h=200 --set system.capital_rate=0 2>&1 | own
"$WEFT" sim study.yaml --split --set system.checkpoint.interval_s=1e9 --set 'system.checkpoint.tiers=[{name: peers, share: 1, interval_s: 60, stall_s: 0.04, restart_s: 120}]' 2>&1 | sed -n '/^failures/,$p'
echo "== budgets"
own_parts='parts={grade: V, catalogue: [{name: end, kind: link, bw_GBps: 50, usd: 100}, {name: fluid, kind: link, bw_GBps: 1, usd: 4}, {name: box, kind: switch, ports: 64, bw_GBps: 50, usd: 10000, watt: 500}], build: [{tier: N, end_link: fluid}, {tier: P, switch: box, end_link: end}]}'
for limits in '{site_MW: 1, usd_year: 1e6, usd_per_Mtoken: 1}' '{site_MW: 0.01, usd_year: 1e6}' '{usd_per_Mtoken: 1e-9}'; do
    say "$limits" check study.yaml --set "budget=$limits"
done
echo "== just over: prices have bands, megawatts have none"
"$WEFT" check "$study" --set 'budget={usd_year: 290e6, site_MW: 25.6}' 2>/dev/null
say "dollars and cents" check study.yaml --set system.npu_usd=3e7 --set 'budget={usd_per_Mtoken: 1}'
say "a part without watts does not block what decides" check study.yaml --set "$own_parts" --set 'budget={site_MW: 0.01}'
say "nor says yes where it does not" check study.yaml --set "$own_parts" --set 'budget={site_MW: 1}'
say "no tokens" check study.yaml --set 'budget={usd_per_Mtoken: 1}' --set 'system={checkpoint: {size_GB: 1}, npus_per_node: 4}'
sed '/^parts/,/^workload/{/^workload/!d}' study.yaml >noparts.yaml
say "no parts: a network without a price" check noparts.yaml -q --set 'budget={usd_year: 1e9}'
say "no system" check ring:4@50 --set 'budget={site_MW: 1}' --set 'workload={step: {all-reduce: {size_MB: 1, group: all}}}'
echo "== a site of 20 MW: rows within it"
cd - >/dev/null && "$WEFT" sweep configs/studies/20MW.yaml -q --of csv 2>/dev/null | awk -F, '
    /^#/ { next }
    !at { for (i = 1; i <= NF; i++) at = $i == "watt_site" ? i : at; next }
    { n++ } { while ((i = index($0, "\"")) > 0) { j = index(substr($0, i + 1), "\""); $0 = substr($0, 1, i - 1) "_" substr($0, i + j + 1) } }
    $at > 20e6 || $at < 1e5 { print "wrong:", $0 }
    END { print (n > 1 ? "some" : "none") }'
cd "$TMPDIR" || exit 1
echo "== what is left out is said"
say "rates count no parts" sim study.yaml --split --set 'parts={rates: [{tier: N, link_usd_per_GBps: 4}, {tier: P, link_usd_per_GBps: 8, switch_usd_per_GBps: 18}]}' | grep -A2 '^left out'
"$WEFT" sim study.yaml --split --set system.mtbf.npu_h=0.01 | grep -A3 '^failures'
for bad in system.pue=0.9 system.residual=1.5 system.life_years=0 system.network_life_years=-4 'system.items=[{name: x, life_years: -1}]' \
    'system.items=[{name: x, residual: 2}]' 'system.items=[{name: x, idle: 1.1}]' system.building_life_years=0 system.server_idle=1.2 \
    system.network_idle=1.01 system.mtbf.switch_h=-5 system.capital_rate=-1 system.mtbf.nic_h=0 system.npu_idle=2 \
    system.checkpoint.restart_s=-5 'system.items=[{name: x, per: pod}]' 'system={}' 'network.npu={usd: 1}' \
    'system={npus_per_node: 4}' 'system={rent_usd_kW_month: 150, building_usd_W: 12}' 'system.run_Gtokens=5' 'system.colour=red'; do
    say "$bad" sim study.yaml --split --set "$bad" | grep -v '^$' | head -3
done
echo "== best for power, and for the cost of a token"
sed 's/^total_GBps.*//; s/size: 4, tier: N/size: 4, tier: N, max_GBps: 400/' study.yaml >best.yaml
of() { "$WEFT" alloc "$@" 2>&1 | grep '^unnamed\|^pod\|^proof\|^  relax\|^  of \|^weft\|^  site\|^  usd_year\|^  tokens\|^power'; }
of best.yaml --set objective=perf_per_watt
of best.yaml --set objective=tco_per_token
of best.yaml --set objective=tco_per_token --set pricing=fraction
"$WEFT" alloc best.yaml --set objective=tco_per_token --set pricing=fraction --of json | tr , '\n' | grep 'objective_unit\|bound_of\|"verified'
"$WEFT" sweep best.yaml -q --of csv --set 'vary={objective: [time, perf_per_watt, tco_per_token, perf_per_cost], total_GBps: [200, 400]}' \
    --set 'keep={front: [time_s, watt_peak]}' | sed '/^#/d' | cut -d, -f4-9
"$WEFT" sweep best.yaml -q --of csv --set 'vary={objective: [tco_per_token], pricing: [fraction, whole]}' | grep -c 'a network that never fails'
echo "== limits of the whole machine"
of best.yaml --set 'constraints=[site_MW <= 0.0485]'
of best.yaml --set 'constraints=[usd_year <= 365000]'
for rows in 'site_MW <= 0.01' 'usd_year <= 3.6e5' 'watt <= 1000' 'watt <= -1' 'watt >= 5'; do
    say "$rows" alloc best.yaml --set "constraints=[$rows]"
done
say "a part without watts: what is known decides" alloc best.yaml --set "$own_parts" --set 'constraints=[site_MW <= 0.01]'
say "or the part is named" alloc best.yaml --set "$own_parts" --set 'constraints=[site_MW <= 1]'
say "power of a part for its objective" alloc best.yaml --set "$own_parts" --set objective=perf_per_watt
say "racks are whole" alloc best.yaml --set 'constraints=[site_MW <= 1]' --set 'system.items=[{name: rack, per: rack, usd: 2000}]'
of best.yaml --set objective=tco_per_token --set 'system.items=[{name: rack, per: rack, usd: 2000}]' | grep '^  of\|^proof'
say "no system" alloc ring:4 --set 'constraints=[usd_year <= 1]' --set 'workload={step: {all-reduce: {size_MB: 1, group: all}}}'
sed '/^system/,$d' best.yaml >bare.yaml
say "no system" alloc bare.yaml --set objective=tco_per_token
say "nothing is kept" alloc best.yaml --set objective=tco_per_token --set system.mtbf.npu_h=0.01
sed '/step_tokens/d' best.yaml >mute.yaml
say "no tokens" alloc mute.yaml --set objective=tco_per_token
say "no watts of NPUs" alloc bare.yaml --set objective=perf_per_watt --set 'network.npu={usd: 1}'
of bare.yaml --set objective=perf_per_watt --set 'parts.catalogue[3].watt=0.5'
sed 's/usd: 100, watt: 10 }/usd: 100 }/' study.yaml >dark.yaml
for limit in site_MW usd_year usd_per_Mtoken; do
    say "a part whose power is not given" check dark.yaml --set "budget={$limit: 10}"
done
