#!/bin/sh
# Sweeps that are asked for what cannot be: one line each, exit 3 (2 where the command line alone says so), and
# nothing that was there is touched.
cd "$TMPDIR" || exit 1
run() { echo "\$ weft $*"; "$WEFT" "$@" 2>&1 | sed 's/hash [0-9a-f]*, expected [0-9a-f]*/hash HASH, expected HASH/'; }
# The exit code of what comes before a pipe.
code() { "$WEFT" "$@" >/dev/null 2>&1; echo "exit $?"; }
bad() { run "$@"; code "$@"; }
cat >study.yaml <<..
network: ring:4 switch:8
workload:
  name: toy
  step: { sum: [ { compute_ms: 1 }, { all-reduce: { size_MB: 100, group: all } } ] }
vary:
  total_GBps: { from: 100, to: 300, step: 100 }
  model: [bandwidth, alpha-beta]
..
"$WEFT" sweep study.yaml --store rows.db -q 2>/dev/null
"$WEFT" sweep study.yaml --store shard.db --shard 1/3 -q 2>/dev/null
# Another version, of the tables and of the program: bytes 60-63 of the file, and a text that is found in it.
cp rows.db tables.db
printf '\000\000\000\143' | dd of=tables.db bs=1 seek=60 conv=notrunc 2>/dev/null
sed 's/version[0-9]\.[0-9]\.[0-9]/version9.9.9/' rows.db >program.db
cmp -s rows.db program.db && echo "the version of the program is not found in its store"
printf 'a,b\n1,2\n' >rows.csv
mkdir folder
cksum ./*.* >before

echo "== shards"
for shard in 5/4 0/3 x 1 1/0 -1/3 1/3/3 '' 1.5/3 99999999999999999999/3; do bad sweep study.yaml --shard "$shard"; done
echo "== stores"
bad sweep study.yaml --store rows.db --set total_GBps=50
bad sweep study.yaml --store rows.db --set 'keep={top: {by: time_s, n: 1}}'
bad sweep study.yaml --store rows.db --set 'where=[total_GBps <= 200]'
bad sweep study.yaml --store rows.db --shard 1/3
bad sweep study.yaml --store shard.db --shard 2/3
bad sweep study.yaml --store shard.db
bad sweep study.yaml --store tables.db
bad sweep study.yaml --store program.db
bad sweep study.yaml --store rows.csv
bad sweep study.yaml --store folder
bad sweep study.yaml --store none/rows.db
bad sweep study.yaml --store rows.csv/rows.db
# Where even root may not write.
bad sweep study.yaml --store /proc/rows.db
bad sweep study.yaml --store /dev/full
echo "== resume"
bad sweep study.yaml --resume
bad sweep study.yaml --resume --store none.db
bad sweep study.yaml --resume --store rows.csv
echo "== axes"
bad sweep study.yaml --set vary.total_GBps=[] --store new.db
bad sweep study.yaml --set vary.total_GBsp=[1] --store new.db
bad sweep study.yaml --set 'vary={zip: {total_GBps: [1, 2], objective: [time]}}' --store new.db
m='{from: 1, to: 2, points: 100000}'
bad sweep study.yaml --store new.db --set "vary={total_GBps: $m, network.npu.usd: $m, network.npu.mem_GB: $m, network.npu.watt: $m}"
bad sweep study.yaml --set 'where=[totl_GBps <= 200]' --store new.db
bad sweep study.yaml --set 'keep={front: [time_s, cost]}' --store new.db
bad sweep study.yaml --set 'keep={front: [time_s]}' --store new.db
bad sweep none.yaml --store new.db
echo "== nothing is touched, nothing is new"
cksum ./*.* >after
diff before after | grep -v -e before -e after
ls
