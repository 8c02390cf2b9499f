#!/bin/sh
# Uncertain inputs one at a time: text, JSON, CSV and figure of one study and of one with points; what is refused.
cd "$TMPDIR" || exit 1
cat >study.yaml <<..
network: { dims: [ { name: a, shape: ring, size: 4, tier: N }, { name: b, shape: switch, size: 8, tier: P } ] }
parts:
  rates:
    - { tier: N, link_usd_per_GBps: 4 }
    - { tier: P, link_usd_per_GBps: 8, switch_usd_per_GBps: { low: 10, typ: 18, high: 30 } }
workload: { step: { sum: [ { compute_ms: 1 }, { all-reduce: { size_MB: 16, group: all } } ] } }
total_GBps: 100
system: { npu_usd: 20000, npu_watt: 700, checkpoint: { size_GB: 9 }, step_tokens: 1e6 }
uncertain:
  keys:
    system.energy_usd_kWh: { triangular: [0.05, 0.08, 0.4] }
    workload.traffic: { lognormal: [1, 1.2] }
    system.rack_kW: { uniform: [20, 60] }
..
say() { echo "== $1"; shift; "$WEFT" "$@" 2>&1; echo "exit $?"; }
say "one study" tornado study.yaml --by time_s,cost_usd,usd_npu_h
say "answers of one's own, as JSON" tornado study.yaml --by max:goodput --of json
points='vary={zip: {system.npu_usd: [20000, 36000], system.npu_watt: [2500, 700]}}'
say "points: the best one changes" tornado study.yaml --set "$points" --by usd_npu_h
say "points of one key" tornado study.yaml --set 'vary={system.npu_usd: [20000, 36000]}' --by usd_npu_h -q
say "as CSV" tornado study.yaml --set "$points" --by time_s,usd_npu_h -o rows.csv
cat rows.csv
say "the same on any threads" tornado study.yaml --set "$points" --by time_s,usd_npu_h -j 3 -o again.csv
sed "s/ -j 3//" again.csv | cmp - rows.csv && echo same
say "figure" plot tornado rows.csv --where answer=usd_npu_h -o figure.svg
grep -Eo '>(energy[^<]*|input at its low|usd_npu_h[^<]*|workload.traffic[^<]*)<' figure.svg
echo "== everything that has a range"
"$WEFT" tornado study.yaml --all --by usd_npu_h --of csv -q | grep 'price\|pue\|server_usd\|p10'
grep -v '^uncertain\|^  keys\|^    system\.\|^    workload\.' study.yaml >plain.yaml
say "prices alone" tornado plain.yaml --by cost_usd
echo "== percentiles of system"
"$WEFT" sweep study.yaml --set 'vary={system.pue: [1.1, 1.5]}' -q --of csv | sed -n '/^point/p' | tr , '\n' | grep '^usd_.*_p[19]0\|^goodput_p'
echo "== what is refused"
say "nothing" tornado plain.yaml --set 'parts.rates[1].switch_usd_per_GBps=18'
say "a column" tornado study.yaml --by tine_s
say "an end" tornado study.yaml --set 'uncertain={keys: {system.pue: {uniform: [0.5, 2]}}}'
say "limits that leave nothing" tornado study.yaml --set "$points" --set 'keep={where: [watt_peak <= 1]}'
say "a network" tornado ring:4@50
say "a range beside the base" tornado study.yaml --set 'uncertain={keys: {system.pue: {uniform: [1.1, 1.2]}}}' --by usd_npu_h -q | tail -3
echo "== the error of a step's time is the band that sim has"
"$WEFT" tornado llama3.1-405b-h100 --all --by time_s --of csv -q 2>/dev/null | awk -F, '/,time of a step,time/ { printf "%.9g %.9g\n", $9, $11 }' >ends
"$WEFT" sweep llama3.1-405b-h100 --set 'vary={workload.parallel.seq_parallel: [true]}' --of csv -q 2>/dev/null |
    awk -F, '/^#/ { next } !low { for (i = 1; i <= NF; i++) { low = $i == "time_low_s" ? i : low; high = $i == "time_high_s" ? i : high } next } { printf "%.9g %.9g\n", $low, $high }' | cmp - ends && echo same
say "control characters" tornado plain.yaml --by cost_usd --set 'parts={catalogue: [{name: fluid, kind: link, bw_GBps: 1, usd: 4}, {name: "b\e[31mx\a", kind: switch, ports: 64, bw_GBps: 50, usd: {low: 9, typ: 10, high: 12}}], build: [{tier: N, end_link: fluid}, {tier: P, switch: "b\e[31mx\a", end_link: fluid}]}' | cat -v
say "another table" plot tornado study.yaml
