#!/bin/sh
# Stores: the rows of a sweep as it writes them itself, shards put together, drawn and asked by SQL.
root=$PWD
cd "$TMPDIR" || exit 1
run() { echo "\$ weft $*"; "$WEFT" "$@" 2>&1; echo "exit $?"; }
cat >two.yaml <<...
name: two
dims: [ { name: node, shape: ring, size: 4 }, { name: pod, shape: switch, size: 8 } ]
...
cat >study.yaml <<...
network: two.yaml
workload:
  name: toy
  step: { sum: [ { compute_ms: 1 }, { all-reduce: { size_MB: 100, group: all } } ] }
vary:
  total_GBps: { from: 100, to: 300, step: 100 }
  network.dims.node.max_GBps: [40, 1000]
  model: [bandwidth, alpha-beta]
...
"$WEFT" sweep study.yaml --store rows.db -q 2>/dev/null
"$WEFT" sweep study.yaml -q -o rows.csv
"$WEFT" sweep study.yaml -q -o rows.json
"$WEFT" sweep study.yaml -q >rows.txt
"$WEFT" export rows.db -o export.csv && cmp rows.csv export.csv && echo "CSV: the bytes of the sweep"
"$WEFT" export rows.db -o export.json && cmp rows.json export.json && echo "JSON: the bytes of the sweep"
"$WEFT" export rows.db | cmp - rows.txt && echo "text: the bytes of the sweep"
"$WEFT" export rows.db -v -o again.csv
run export rows.db -o export.csv
echo "== of a study without a file"
run sweep "ring:4 switch:8" --set 'workload={ step: { all-reduce: { size_MB: 80, group: all } } }' \
    --set 'vary={ total_GBps: [100, 200] }' --store word.db -q
"$WEFT" export word.db -q --of csv | sed '/^#/d' | cut -d , -f 1-4
echo "== some of the rows"
"$WEFT" export rows.db --where total_GBps=100 --where total_GBps=300 --where network.dims.node.max_GBps=40 --of csv |
    sed '/^#/d' | cut -d , -f 1-5
run export rows.db --where networks=two
echo "== options come before the rows, which take minutes to verify where there are many"
# A letter of a status: the rows do not have their checksum any more.
LC_ALL=C sed 's/solved/solveD/' rows.db >torn.db
run export torn.db -q -o torn.csv
run export torn.db --where networks=two
run front torn.db --by time_s,bw1_GBps
run front torn.db --by time_s,max:bw1_GBps
echo "== figures"
"$WEFT" plot time rows.csv >csv.svg && "$WEFT" plot time rows.db >db.svg && cmp csv.svg db.svg &&
    echo "the figure is that of the CSV"
echo "== shards"
for i in 1 2 3; do "$WEFT" sweep study.yaml --store "s$i.db" --shard "$i/3" -q 2>/dev/null; done
run merge out.db s3.db s1.db
"$WEFT" export out.db -q --of csv | sed '/^#/d' | cut -d , -f 1 | tr '\n' ' '
echo
run export s1.db -o one.csv
run merge out.db out.db s2.db
run merge -f out.db out.db s2.db
"$WEFT" export out.db | cmp - rows.txt && echo "the rows of an undivided run"
echo "== points without a design, which a store counts; what columns hold, for other programs"
cat >toy.yaml <<..
network: ring:4 switch:8
workload: { name: toy, step: { all-reduce: { size_MB: 100, group: all } } }
vary: { total_GBps: [100, 200, 300, 400], constraints: [[dim1 >= 250]] }
..
run sweep toy.yaml --store toy.db
"$WEFT" export toy.db --typed -q --of csv | sed -n 's/^# types=\(\([^,]*,\)\{9\}\).*/\1/p'
run merge -f out.db s1.db s2.db s1.db
"$WEFT" export out.db | cmp - rows.txt && echo "as it was"
"$WEFT" merge half.db s1.db s2.db -q
"$WEFT" sweep study.yaml --store half.db -q 2>/dev/null
"$WEFT" export half.db | cmp - rows.txt && echo "a sweep does what was missing"
"$WEFT" sweep study.yaml --set total_GBps=1 --store other.db -q 2>/dev/null
run merge new.db s1.db other.db | sed 's/[0-9a-f]\{16\}/HASH/g'
echo "== no stores"
run export rows.csv
run export none.db
run export .
head -c 5000 rows.db >cut.db
run export cut.db
run merge new.db rows.db rows.csv
run merge new.db
: >empty.db
run plot time empty.db
ls new.db 2>&1
echo "== SQL"
# What docs/store.md shows, each query as it stands there.
if command -v sqlite3 >/dev/null; then
    awk '/^```sql/ { inside = 1; next } /^```/ { inside = 0 } inside' "$root/docs/store.md" >queries.sql
    [ -s queries.sql ] || echo "no queries in docs/store.md"
    sqlite3 -readonly -bail rows.db <queries.sql >answers.txt 2>&1 || { echo "a query failed"; cat answers.txt; }
fi
echo "== how far a long sweep is"
cat >long.yaml <<..
network: { dims: [ { name: a, shape: ring, size: 4, bw_GBps: 1 }, { name: b, shape: switch, size: 8, bw_GBps: 1 } ] }
workload: { step: { all-reduce: { size_MB: 100, group: all } } }
split: given
vary: { network.dims.a.bw_GBps: { from: 1, to: 3000, step: 1 }, network.dims.b.bw_GBps: { from: 1, to: 3000, step: 1 } }
..
"$WEFT" sweep long.yaml --store long.db 2>said &
# It is asked before its 10 s are over: the signal is 14, so that the fourth digit of its mask has a 2 once it listens.
for _ in $(seq 300); do
    grep -q '^SigCgt:.*[2367abef]...$' "/proc/$!/status" && kill -ALRM $!
    grep -q ' of 140,625 ' said && break
    sleep 0.1
done
kill $!
wait $! 2>/dev/null
sed -n 's/.*: [0-9]* s: [0-9,]* of \(140,625 units of points or runs\).*/N of \1/p' said | sed q

# ---- the stores of all shards, read as one ----

cat >shards.yaml <<..
network: ring:4 switch:8
workload: { name: toy, step: { sum: [ { compute_ms: 1 }, { all-reduce: { size_MB: 100, group: all } } ] } }
vary: { total_GBps: { from: 100, to: 400, points: 101 }, network: ["ring:4 switch:8", "full:4 ring:2 switch:4"] }
..
echo "## --slurm prints a job array; its jobs, run one by one, give the rows of a plain sweep"
"$WEFT" sweep shards.yaml --slurm --jobs 3 >array.sh
cat array.sh
mkdir shards-shards bin
ln -s "$WEFT" bin/weft
for i in 3 1 2; do SLURM_ARRAY_TASK_ID=$i SLURM_CPUS_PER_TASK=1 PATH=$PWD/bin:$PATH sh array.sh; done
"$WEFT" sweep shards.yaml -o plain.csv -q
"$WEFT" export shards-shards -o joined.csv && cmp plain.csv joined.csv
"$WEFT" export shards-shards/*.db -o joined.csv -f && cmp plain.csv joined.csv
"$WEFT" front shards-shards --by time_s,total_GBps --of csv | grep -v '^#' >front.csv
"$WEFT" front plain.csv --by time_s,total_GBps --of csv | grep -v '^#' | cmp - front.csv
for how in "--behind 5" "--design 7" "--limit total_GBps<=200" "--where n_dims=3" "--at time_s=0.002,total_GBps=250" "--per network"; do
    # shellcheck disable=SC2086 # several words
    "$WEFT" front shards-shards --by time_s,total_GBps --of csv $how | grep -v '^#' >front.csv
    # shellcheck disable=SC2086
    "$WEFT" front plain.csv --by time_s,total_GBps --of csv $how | grep -v '^#' | cmp - front.csv || echo "front $how differs"
done
"$WEFT" plot xy shards-shards --x total_GBps --y time_s -o joined.svg && "$WEFT" plot xy plain.csv --x total_GBps --y time_s -o plain.svg &&
    cmp plain.svg joined.svg
echo "## a shard that is missing"
"$WEFT" export shards-shards/1.db shards-shards/3.db -o part.csv
echo "exit $?, $(ls part.csv 2>&1)"
"$WEFT" export shards-shards/1.db shards-shards/3.db --partial -o part.csv
echo "exit $?, $(grep -vc '^#' part.csv) lines"
"$WEFT" front shards-shards/1.db shards-shards/3.db --partial --by time_s,total_GBps | head -n 2
"$WEFT" plot xy shards-shards/1.db shards-shards/3.db --partial --x total_GBps --y time_s -o part.svg
mkdir one && cp shards-shards/1.db one
"$WEFT" front one --by time_s,total_GBps
echo "exit $?"
"$WEFT" front one --partial --by time_s,total_GBps | head -n 2
echo "## of different studies, twice, no stores, survivors, half an option"
"$WEFT" sweep shards.yaml --set total_GBps=100 --store another.db -q
"$WEFT" export shards-shards/1.db another.db
echo "exit $?"
"$WEFT" front shards-shards/1.db shards-shards/1.db
echo "exit $?"
"$WEFT" plot xy plain.csv joined.csv --x total_GBps --y time_s
echo "exit $?"
mkdir none
"$WEFT" front none
echo "exit $?"
for i in 1 2; do "$WEFT" sweep shards.yaml --set 'keep={front: [time_s, total_GBps]}' --store k$i.db --shard $i/2 -q; done
"$WEFT" export k1.db k2.db
echo "exit $?"
"$WEFT" sweep shards.yaml --slurm
echo "exit $?"
"$WEFT" sweep shards.yaml --jobs 3
echo "exit $?"
"$WEFT" sweep shards.yaml --slurm --jobs 3 --shard 1/3
echo "exit $?"
