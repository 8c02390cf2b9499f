#!/bin/sh
# A row of a sweep is the single run of its point: by --set, alone, as alloc and sim have it, on any number of
# threads, in shards and stores. What `simulation` says of a network holds for all of its bandwidths.
# shellcheck disable=SC2015,SC2094,SC2238 # files of one name are read before they are written
root=$PWD
cd "$TMPDIR" || exit 1
rows() { "$WEFT" "$@" -q --of csv | sed '/^#/d'; }
# Without the number of the point.
bare() { sed 's/^[0-9]*,//'; }
same() { cmp -s "$1" "$2" && echo "$3: same" || { echo "$3: other rows"; diff "$1" "$2" | head -5; }; }
cat >ring.yaml <<..
network: { dims: [ { name: a, shape: ring, size: 8, bw_GBps: 100, latency_ns: 1000 }, { name: b, shape: switch, size: 8, bw_GBps: 25, latency_ns: 2000 } ] }
workload: { name: toy, step: { sum: [ { compute_ms: 1 }, { all-reduce: { size_MB: 1, group: all } } ] } }
split: given
model: alpha-beta
simulation: { algorithms: [ default, ring ] }
vary: { network.dims.a.bw_GBps: { from: 100, to: 299, step: 1 } }
..
echo "== bandwidths that are given"
rows sweep ring.yaml -j1 >all
wc -l <all
grep '^100,' all | cut -d, -f 2,10
rows sweep ring.yaml --set network.dims.a.bw_GBps=200 | bare >one
grep '^100,' all | bare >row
sed -n 2p one >set && same set row "--set"
sed 's/^vary.*/vary: { network.dims.a.bw_GBps: [ 200 ] }/' ring.yaml >alone.yaml
rows sweep alone.yaml | bare | sed -n 2p >alone && same alone row "alone"
rows alloc ring.yaml >alloc && same alloc all "alloc"
sed '/^vary/d' ring.yaml >single.yaml
rows sim single.yaml --set network.dims.a.bw_GBps=200 | sed -n 2p | cut -d, -f 4
for j in 2 4 7; do
    rows sweep ring.yaml -j$j >threads && same threads all "-j$j"
done
for i in 1 2 3; do
    "$WEFT" sweep ring.yaml -q --shard $i/3 --store s$i.db >some.log 2>&1
done
"$WEFT" merge s.db s1.db s2.db s3.db -q
rows export s.db >shards && same shards all "shards"
echo "== bandwidths that are chosen, counted as LIBRA does"
study=$root/configs/studies/libra/gpt3-4d.yaml
vary='vary={network.dims.pod.max_GBps: {from: 10, to: 90, step: 1}}'
rows sweep "$study" -j1 --set "$vary" >all
cut -d, -f 9 all | sort | uniq -c
rows sweep "$study" -j4 --set "$vary" >threads && same threads all "-j4"
rows alloc "$study" --set "$vary" >alloc && same alloc all "alloc"
grep '^20,' all | bare >row
rows sweep "$study" --set 'vary={network.dims.pod.max_GBps: [30]}' | sed -n 2p | bare >alone && same alone row "alone"
