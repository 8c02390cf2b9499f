#!/bin/sh
# weft new: what there is to start from, a study of it that runs as written, and names that are none.
WEFT_DATA=$PWD/configs
export WEFT_DATA
cd "$TMPDIR" || exit 1
run() { echo "\$ weft $*"; "$WEFT" "$@" 2>&1; echo "exit $?"; }
"$WEFT" new >list
sed -n '/^Net/,+3p; /^NPUs/,+3p' list
for kind in networks models npus studies clusters; do
    for file in "$WEFT_DATA/$kind"/*.yaml; do
        name=$(basename "$file" .yaml)
        grep -q "^  $name  *[^ ]" list || echo "$name is not listed"
    done
done
[ "$(awk '{ print length }' list | sort -n | tail -1)" -le 120 ] && echo "lines fit 120 columns"

run new gb300.yaml --like gb300-nvl72 --like llama3-8b
cat gb300.yaml
"$WEFT" sim gb300.yaml -q | sed -n 1p
run new gb300.yaml --like gb300-nvl72

echo "== each network with each model and NPU is a study that is read"
for network in "$WEFT_DATA"/networks/*.yaml; do
    name=$(basename "$network" .yaml)
    "$WEFT" new "$name.yaml" --like "$name" --like b200 && "$WEFT" topo "$name.yaml" -q >got || echo "failed: $name"
    "$WEFT" topo "$network" -q | sed -n 2,4p >want
    sed -n 2,4p got | cmp -s - want || echo "another network: $name"
done
for name in resnet50 dlrm-dcnv2; do
    "$WEFT" new "$name.yaml" --like "$name" --like hgx-h100 && sed -i "/search: /d" "$name.yaml" && "$WEFT" sim "$name.yaml" -q >got || echo "failed: $name"
    sed -n 1p got
done
for study in "$WEFT_DATA"/studies/*.yaml; do
    name=$(basename "$study" .yaml)
    "$WEFT" new "study-$name.yaml" --like "$name" || echo "failed: $name"
    ! grep -n '\.\./[a-z]*/[^ ]*\.yaml' "study-$name.yaml" || echo "a path: $name"
done
run topo study-rails-taper.yaml --spec

run new x.yaml --like b200 --like b300
run new x.yaml --like b20
run new x.yaml --like rails-taper --like b200
run new x.yaml
run new - --like nosuch
run new x.csv/y --like b200
[ -e x.yaml ] || echo "nothing was written"

echo "== keys written into it, comments and all else as they were"
mkdir keys
cd keys || exit 1
changed() { "$WEFT" new "$@" -q 2>&1; "$WEFT" new - --like "$like" ${and:+--like "$and"} | diff - "$1"; }
like=hgx-h100
changed set1.yaml --like hgx-h100 --set workload.parallel.batch=1024 --set 'network.dims.node={ name: in, shape: switch, size: 8, bw_GBps: 450, tier: HGX-H100 }' \
    --set 'workload.search.tp=[8]'
"$WEFT" sim set1.yaml -q | sed -n 1p
like=rails-taper
changed set2.yaml --like rails-taper --set objective=cost --set time_limit_s=60 --set 'vary={ network.dims.pod.taper: [1, 2] }' --set system.npu_usd=30000 \
    --set "name=it's"
like=spine-cost
changed set3.yaml --like spine-cost --set jobs.count=20 --set events.backfill=false
for study in "$WEFT_DATA"/studies/*.yaml "$WEFT_DATA"/clusters/*.yaml; do
    name=$(basename "$study" .yaml)
    "$WEFT" new "name-$name.yaml" --like "$name" --set name=another --set seed=7 -q || echo "failed: $name"
    "$WEFT" new - --like "$name" >plain
    [ "$(grep -c '#' "name-$name.yaml")" -ge "$(grep -c '#' plain)" ] || echo "lost a comment: $name"
    [ "$(diff plain "name-$name.yaml" | grep -c '^[<>]')" -le 4 ] || echo "more than two lines: $name"
done
run new x.yaml --like hgx-h100 --set workload.parallell.tp=8
run new x.yaml --like hgx-h100 --set network.npu.usd=8
run new x.yaml --like hgx-h100 --set batch
run new x.yaml --like hgx-h100 --set 'workload.parallel.batch=[1'
run new x.yaml --like hgx-h100 --set 'workload.parallel.batch=1 # one'
run new --set batch=8
[ -e x.yaml ] || echo "nothing was written"

echo "== quotes, brackets and comments in what stands before a key"
mkdir -p data/studies data/networks data/models data/npus data/clusters
cat >data/studies/quoted.yaml <<'..'
# A study whose names have brackets.
name: "a ] \" b"
network: { name: 'it''s ]', dims: [ { name: x, tier: "x\"}", shape: ring, size: 4 }, # ] }
    { name: y, shape: switch, size: 8 } ] }
total_GBps: 100
..
WEFT_DATA=$PWD/data "$WEFT" new edited.yaml --like quoted --set network.dims.y.size=16 --set network.dims.x.bw_GBps=5 --set name=c \
    --set 'network.npu={ peak_TFLOPS: 1 }' -q
diff data/studies/quoted.yaml edited.yaml
cd ..

echo "== a cluster, which place finds by its name"
run new mine.yaml --like spine-cost
sed -n '/^parts:/p; /^jobs:/p' mine.yaml
"$WEFT" place mine.yaml -q --set jobs.count=2 --set seeds=1 | sed -n 1p
"$WEFT" place spine-cost -q --set jobs.count=2 --set seeds=1 | sed -n 1p
run new mine.yaml --like spine-cost --like b200
