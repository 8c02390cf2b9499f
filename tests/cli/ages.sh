#!/bin/sh
# Prices that age: said once a run, by the day that SOURCE_DATE_EPOCH holds still (2026-11-29, 2024-07-01).
cd "$TMPDIR" || exit 1
run() { echo "\$ weft $*"; "$WEFT" "$@" 2>&1 >/dev/null | grep -v "vary has no effect"; }
for day in 1795910400 1719792000; do
    export SOURCE_DATE_EPOCH=$day
    run sim llama3-owned
    run sim llama3-owned --set price_days=2000
done
export SOURCE_DATE_EPOCH=1795910400
run sim llama3-owned --set price_days=0 --set system.npu_usd=1 --set system.server_usd=1
run check nic-budget
run sweep goodput --set 'vary={system.mtbf.npu_h: [20000, 79000]}'
run sim llama3-owned -q
cat >free.yaml <<..
network: "ring:4@50"
workload: { step: { compute_ms: 1 } }
price_days: 9
..
run sim free.yaml
