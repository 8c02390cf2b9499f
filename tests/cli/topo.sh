#!/bin/sh
# Facts of networks. Numbers below are closed forms: 8 rings of 4 and 4 switches of 8 have 32 + 32 links.
cd "$TMPDIR" || exit 1
run() { echo "\$ weft $*"; "$WEFT" "$@" 2>&1; echo "exit $?"; }
cat >net.yaml <<..
name: small
npu: { usd: 1000 }
parts:
  name: some
  source: this test
  nic_port_GBps: 50
  rates:
    - { tier: Node, link_usd_per_GBps: 4 }
    - { tier: Pod, link_usd_per_GBps: 8, switch_usd_per_GBps: 18, nic_usd_per_GBps: { low: 20, typ: 32, high: 40 } }
dims:
  - { name: node, shape: ring, size: 4, bw_GBps: 200, tier: Node, latency_ns: 700 }
  - { name: pod, shape: switch, size: 8, bw_GBps: 50, tier: Pod, efficiency: 0.9 }
..
run topo net.yaml
run topo "ring:4@200 switch:8"
run topo net.yaml --spec
run topo net.yaml --bill
run topo net.yaml --bill --of csv -o bill.csv
sed '/^#/d' bill.csv
run topo net.yaml --of json -o net.json
sed 's/"study_hash": "[0-9a-f]*"/"study_hash": "HASH"/' net.json
"$WEFT" topo net.yaml >closed
"$WEFT" topo net.yaml --igraph | diff closed - && echo "the graph agrees with the closed forms"

echo "== fabrics of routers"
for w in "dragonfly:2x4x7^2@1" "dragonfly+:2x2x5^2^2@1" "slim-fly:4x50@1"; do
    run topo "$w"
    run topo "$w" --spec
    "$WEFT" topo "$w" >closed
    "$WEFT" topo "$w" --igraph | diff closed - && echo "the graph agrees with the closed forms"
done
echo "dims: [ { name: sf, shape: slim-fly, hosts: 21, q: 28, bw_GBps: 50 } ]" >sf.yaml
run topo sf.yaml
run topo sf.yaml --igraph
run topo "dragonfly+:2x2x5^2^2^2@1"
run topo "slim-fly:4x50/2@1"

echo "== graphs out and in"
run topo net.yaml --graphml net.graphml --dot net.dot -q
head -1 net.dot
run topo net.graphml
run topo net.graphml --spec
"$WEFT" topo "ring:4" --dot - | sed 's/igraph .*\*/igraph */' | head -3
"$WEFT" topo "ring:4" --dot - | tail -1
printf 'src,dst,bw_GBps,latency_ns\na,b,1,10\nb,switch1,2,10\n' >edges.csv
run topo edges.csv
printf 'src,dst,bw_GBps,latency_ns\na,b,-1,10\n' >edges.csv
run topo edges.csv
run topo edges.csv --bill
printf 'src,dst,bw_GBps,latency_ns\na,b,1,10\n' >edges.csv
run topo edges.csv --bill
printf 'src,dst,bw_GBps,latency_ns,class,usd,watt\na,switch1,1,10,leaf,120,8\nb,switch1,1,10,leaf,120,8\n' >priced.csv
run topo priced.csv
run topo priced.csv --bill --of json
run topo priced.csv --graphml - | grep class
run topo nosuch.graphml
run topo "ring:4@x"
run topo "ring:-0@5"
printf '<graphml/>' >none.graphml
run topo none.graphml
run topo "ring:4@5" --bill
run topo "ring:4@5" --set objective=time

echo "== hashed flows need links up in use"
for word in "fat-tree:8x1+hash@50" "fat-tree:8x2+hash@50" "switch:4@200 fat-tree:8x1+rails4+hash@50"; do
    echo "$word"
    { "$WEFT" topo "$word" >/dev/null; } 2>&1
done
