#!/bin/sh
# Two designs side by side, as text, JSON and CSV: inputs, what follows, what each does alone; what is refused.
cd "$TMPDIR" || exit 1
cat >a.yaml <<..
network:
  dims:
    - { name: in, shape: ring, size: 4, tier: N }
    - { name: out, shape: switch, size: 8, tier: P }
parts: { rates: [ { tier: N, link_usd_per_GBps: 4 }, { tier: P, link_usd_per_GBps: 8, switch_usd_per_GBps: 18 } ] }
workload: { step: { sum: [ { compute_ms: 1 }, { all-reduce: { size_MB: 16, group: all } } ] } }
total_GBps: 100
..
sed 's/total_GBps: 100/total_GBps: 200/; s/switch_usd_per_GBps: 18/switch_usd_per_GBps: 24/' a.yaml >b.yaml
printf 'objective: time\nsource: copied\n' | cat a.yaml - >same.yaml
# Of the outputs a few: which there are is the list of columns' business.
few() { sed -e '/^output /,/^exit/{/^output \|^  \|^time_s\|^cost_usd\|^exit\|^n_npus\|^status/!d}' -e '/^output,/{/,time_s,\|,cost_usd,/!d}' -e 's/"outputs": \[{.*"name": "time_s"\([^}]*\)}.*/"outputs": [... "time_s"\1 .../'; }
say() { { echo "== $1"; shift; "$WEFT" "$@" 2>&1; echo "exit $?"; } | few; }
say "two studies" diff a.yaml b.yaml
say "as JSON" diff a.yaml b.yaml --of json
say "as CSV" diff a.yaml b.yaml --of csv
say "defaults, order and remarks are none" diff a.yaml same.yaml
say "in JSON" diff a.yaml same.yaml --of json
say "words" diff "ring:4@50 switch:8@25" "ring:8@50 switch:8@25"
say "--set holds for both" diff a.yaml b.yaml --set total_GBps=300
sed 's/name: out, shape: switch, size: 8/name: out, shape: torus, sizes: [2, 4]/' a.yaml >torus.yaml
say "keys that go together" diff a.yaml torus.yaml
sed 's/^total_GBps.*/constraints: [ in + out <= 100, in >= 200 ]/' a.yaml >none.yaml
say "one has no design" diff a.yaml none.yaml
sed 's/tier: P }/tier: P, max_GBps: 500 }/' a.yaml >wide.yaml
say "what changes nothing" diff a.yaml wide.yaml
printf 'budget: { usd: 9e9 }\n' | cat a.yaml - >gate.yaml
say "a key that is of no one design" diff a.yaml gate.yaml
say "what changes nothing, in JSON" diff a.yaml wide.yaml --of json
cat >old.yaml <<..
grade: V
date: 2025-01
catalogue:
  - { name: nic, kind: nic, ports: 1, bw_GBps: 50, usd: 1000, watt: 25 }
  - { name: box, kind: switch, ports: 64, bw_GBps: 50, usd: 30000, watt: 900 }
  - { name: wire, kind: link, bw_GBps: 50, usd: 500, watt: 10 }
  - { name: other, kind: link, bw_GBps: 50, usd: 500 }
build:
  - { tier: N, end_link: wire }
  - { tier: P, nic: nic, switch: box, end_link: wire }
..
sed 's/usd: 30000/usd: 20000/; s/usd: 1000/usd: 1100/; s/other, kind: link, bw_GBps: 50, usd: 500/other, kind: link, bw_GBps: 50, usd: 700/; s/2025-01/2026-01/' old.yaml >new.yaml
# 8 NICs a pod, 4 pods of one box: -40,000 and +3,200 USD.
sed '/^total_GBps/d; s/size: 4, /size: 4, bw_GBps: 50, /; s/size: 8, /size: 8, bw_GBps: 50, /' a.yaml >given.yaml
say "a new catalogue, price by price" diff --parts old.yaml new.yaml given.yaml
say "the other way round, in CSV" diff given.yaml --parts new.yaml old.yaml --of csv
say "prices for both, where none is a catalogue" diff given.yaml given.yaml --parts old.yaml
echo "== what is refused"
say "a catalogue that is none" diff --parts nowhere.yaml new.yaml given.yaml
say "one operand" diff a.yaml
say "no such file" diff a.yaml nowhere.yaml
say "a placement" diff a.yaml --set 'jobs=[]' b.yaml
say "a store" diff a.yaml /dev/null
