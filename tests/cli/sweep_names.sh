#!/bin/sh
# Names of stores that mean something else to SQLite, a store that is to be written over, and stores of studies
# whose first point is none.
cd "$TMPDIR" || exit 1
run() { echo "\$ weft $*"; "$WEFT" "$@" 2>&1 | sed 's/hash [0-9a-f]*, expected [0-9a-f]*/hash HASH, expected HASH/'; }
cat >study.yaml <<..
network: { dims: [ { name: node, shape: ring, size: 4 }, { name: pod, shape: switch, size: 8 } ] }
workload: { name: toy, step: { sum: [ { compute_ms: 1 }, { all-reduce: { size_MB: 100, group: all } } ] } }
vary:
  network.dims.node.size: [1, 2, 4]
  total_GBps: [100, 200]
keep: { front: [time_s, total_GBps] }
..
for name in :memory: 'file:rows.db?mode=memory' 'a b%41?#.db'; do
    run sweep study.yaml --store "$name"
    "$WEFT" export "$name" --of csv | grep -vc '^#'
done
ls
cp 'a b%41?#.db' before.db
run sweep study.yaml --store before.db -o ./before.db -f
cmp before.db 'a b%41?#.db' && echo "untouched"
# Size 1 cannot be read, so that nothing is known of the first point but its text.
sed -i 's/size_MB: 100/size_MB: 900/' study.yaml
run sweep study.yaml --store before.db
sed -i 's/size_MB: 900/size_MB: 100/; s/time_s, /speedup, /' study.yaml
run sweep study.yaml --store before.db
sed -i 's/speedup, /time_s, /' study.yaml
run sweep study.yaml --store before.db
run sweep study.yaml --dry-run --shard 5/4
for i in 2 5 6; do "$WEFT" sweep study.yaml -q --store "$i.db" --shard "$i/2147483647" 2>/dev/null; done
run merge all.db 2.db 5.db 6.db
