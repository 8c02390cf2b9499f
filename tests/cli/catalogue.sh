#!/bin/sh
# Files that come with weft by their bare names: a file of the user's own first, then $WEFT_DATA, then the program's data folder.
configs=$PWD/configs
cd "$TMPDIR" || exit 1
run() { echo "\$ weft $*"; "$WEFT" "$@" 2>&1; echo "exit $?"; }
mkdir -p data/networks data/npus data/models data/studies data/parts
echo "npu: { peak_TFLOPS: 10, mem_GB: 80, mem_GBps: 1000 }
dims: [ { name: a, shape: ring, size: 4, bw_GBps: 1 } ]" >data/networks/small.yaml
echo "{ peak_TFLOPS: 20, mem_GB: 80, mem_GBps: 1000 }" >data/npus/twenty.yaml
cat >data/models/tiny.yaml <<..
{ family: transformer, layers: 2, hidden: 64, heads: 2, seq: 32, vocab: 100 }
..
WEFT_DATA=$PWD/data
export WEFT_DATA

echo "== on the command line: the user's own file first, then the catalogue's, with its ending or without"
run topo small
run topo small.yaml
echo "dims: [ { shape: switch, size: 3, bw_GBps: 1 } ]" >small
run topo small
rm small
run topo smal
run topo ./small

echo "== in a study"
cat >study.yaml <<..
network: { npu: twenty, dims: "ring:4@1 switch:2@2" }
workload: { model: tiny, parallel: { batch: 8 } }
..
run sim study.yaml
run sim study.yaml --set network.npu=twelve
run sim study.yaml --set network.npu=twenny
run sim study.yaml --set network=small
run sweep study.yaml --of csv --set 'vary={network.dims: ["ring:4@1", "switch:4@1"]}'
echo "{ peak_TFLOPS: 40, mem_GB: 80, mem_GBps: 1000 }" >twenty.yaml
echo "== a file beside the study goes first"
"$WEFT" sim study.yaml -v 2>&1 >/dev/null | grep ": read "

echo "== a word in place of dims"
run topo study.yaml --spec
run topo study.yaml --set "network.dims=ring:4 swich:8"
run topo study.yaml --set "network.dims=[]"
run topo study.yaml --set network.dims.ring=4

echo "== without \$WEFT_DATA: what the program comes with"
unset WEFT_DATA
run topo hgx-h100 --spec

echo "== a profile of jobs, whose content is part of what a study is"
export WEFT_DATA="$PWD/data"
mkdir -p data/clusters/profiles
cp "$configs/clusters/profiles/llm-2024.yaml" data/clusters/profiles/small.yaml
cat >place.yaml <<..
model: events
network: { dims: "switch:8@450 switch:128@50" }
server: dim1
jobs: { count: 5, jobs_per_h: 2, profile: small, length: iterations }
schedulers: [fifo]
..
run place place.yaml
run place place.yaml --set jobs.profile=smal
run place place.yaml --set "vary={jobs.profile: [small, data/clusters/profiles/small.yaml]}" --of csv | sed "/^#/d" | cut -d, -f1-8
for set in jobs.count=5 'vary={jobs.profile: [small]}'; do
    "$WEFT" place place.yaml --set "$set" --of csv | grep hash >before
    echo "# more" >>data/clusters/profiles/small.yaml
    "$WEFT" place place.yaml --set "$set" --of csv | grep hash | cmp -s - before || echo "another study"
done
