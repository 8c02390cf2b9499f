#!/bin/sh
# Networks whose links stand in a file: classes of links as dimensions, cuts as the proof. A torus of 4 x 8
# with links b1 and b2 carries min(1.9375 b1, 0.96875 b2) of an all-to-all: B = 2 b of 1 : 2 is best.
cd "$TMPDIR" || exit 1
run() { echo "\$ weft $*"; "$WEFT" "$@" 2>&1; echo "exit $?"; }
awk 'BEGIN { print "src,dst,bw_GBps,latency_ns,class,usd"
    for (v = 0; v < 32; v++) { x = v % 4; y = int(v / 4)
        printf "npu%d,npu%d,25,100,x,100\nnpu%d,npu%d,25,100,y,150\n", v, (x + 1) % 4 + 4 * y, v, x + 4 * ((y + 1) % 8) } }' >torus.csv
cat >study.yaml <<..
network:
  name: torus
  graph: torus.csv
  classes: [ { name: x }, { name: y } ]
workload:
  name: shuffle
  step: { sum: [ { compute_ms: 1 }, { all-to-all: { size_MB: 100, group: all } } ] }
total_GBps: 100
budget: { usd: 9000, time_s: 0.005 }
..
run topo torus.csv
run alloc study.yaml
run alloc study.yaml --set objective=perf_per_cost --of csv -o split.csv
cut -d, -f1-8 split.csv | sed '/^#/d'
run check study.yaml
run explain study.yaml
run sim study.yaml --set network.classes.x.bw_GBps=40 --set network.classes.y.bw_GBps=60
sed 's/^total_GBps.*/vary: { network.classes.y.max_GBps: [30, 60, 90] }\ntotal_GBps: 100/; /^budget/d' study.yaml >sweep.yaml
run sweep sweep.yaml --of csv -o sweep.csv
sed '/^#/d' sweep.csv | cut -d, -f1-12

echo "== prices by tier"
cat >rates.yaml <<..
name: rates
rates: [ { tier: copper, link_usd_per_GBps: 4 }, { tier: optic, link_usd_per_GBps: 8 } ]
..
sed 's/name: x/name: x, tier: copper/; s/name: y/name: y, tier: optic/' study.yaml >tiers.yaml
run alloc tiers.yaml --parts rates.yaml

echo "== at the bandwidths of the file, where nothing limits a split; classes scale them"
sed '/^total_GBps/d' study.yaml >free.yaml
run topo free.yaml
run check free.yaml --set network.classes.x.bw_GBps=40 --set budget.time_s=0.006
sed 's/^  classes.*//; s/torus.csv/bare.csv/; /^budget/d' free.yaml >bare.yaml
cut -d, -f1-4 torus.csv >bare.csv
run alloc bare.yaml
run topo free.yaml --spec

# Of the 8 links of y that halve it 7 are left: 4 ms become 4 8/7. In a tree of two leaves of 4 and two spines
# 200 MB pass 100 GB/s up, without one of them 50.
echo "== failures"
run fail free.yaml
printf 'src,dst,bw_GBps,latency_ns,src_kind,dst_kind\n%s\n' "$(for l in 0 1; do
    for n in 0 1 2 3; do echo "n$l$n,leaf$l,50,500,npu,switch"; done
    for s in 0 1; do echo "leaf$l,spine$s,50,500,switch,switch"; done; done)" >fabric.csv
sed 's/torus.csv/fabric.csv/; /^  classes/d; /^budget/d' free.yaml >fabric.yaml
echo 'system: { npu_usd: 1, npu_watt: 1, npus_per_node: 4, checkpoint: { size_GB: 1 }, tolerates: { paths: true } }' >>fabric.yaml
"$WEFT" fail fabric.yaml | sed -n '/^one/p;/link/p;/^switch/p'

echo "== what cannot be"
run alloc study.yaml --set model=flow
run alloc study.yaml --set network.graph=none.csv
run alloc study.yaml --set 'network.classes[1].name=z'
run alloc study.yaml --set network.classes.x.size=5
run alloc study.yaml --set 'constraints=[z <= 5]'
cut -d, -f1-5 torus.csv >bare.csv
run alloc study.yaml --set network.graph=bare.csv --set objective=perf_per_cost
sed 's/^npu2,npu3/n2,npu3/' torus.csv >mixed.csv
run topo mixed.csv
sed 's/bw_GBps/GBps/' torus.csv >misspelt.csv
run topo misspelt.csv
sed 's/latency_ns/latency_ns,kind/; 2,9s/25,100/25,100,npu/; 10,$s/25,100/25,100,/; 9s/npu,y/switch,y/' torus.csv >kinds.csv
run topo kinds.csv
cd - >/dev/null && run alloc configs/studies/graph-classes.yaml
# 16 x 187.5 MB over 50 GB/s each; without the faster spine 800 MB over 100 GB/s.
run check configs/studies/graph-as-built.yaml
"$WEFT" fail configs/studies/graph-as-built.yaml | sed -n '/^one/p;/link/p;/^switch/p'
cd "$TMPDIR" || exit 1

echo "== kinds of nodes: those that a file does not tell count as NPUs, where no name says otherwise"
printf 'src,dst,bw_GBps,latency_ns\nn0,leaf0,50,500\nn1,leaf0,50,500\n' >tree.csv
run topo tree.csv
printf 'src,dst,bw_GBps,latency_ns,dst_kind\nn0,leaf0,50,500,switch\nn1,leaf1,50,500,\nleaf0,leaf1,50,500,\n' >half.csv
run topo half.csv
printf 'src,dst,bw_GBps,latency_ns,dst_kind\nn0,n9,50,500,switch\nn1,n9,50,500,\n' >alike.csv
run topo alike.csv
sed 's/leaf/switch/g' tree.csv >called.csv
"$WEFT" topo called.csv | sed -n 1,3p
printf 'src,dst,bw_GBps,latency_ns\n0,2,50,500\n1,2,50,500\n' >numbers.csv
"$WEFT" topo numbers.csv | sed -n 1,3p
sed 's/latency_ns/latency_ns,src_kind,dst_kind/; s/500$/500,npu,switch/' numbers.csv >told.csv
"$WEFT" topo told.csv | sed -n 1,3p

echo "== either name of a latency and of a kind"
printf 'src,dst,bw_GBps,latency_ns,kind,dst_kind\na0,hub,50,500,npu,switch\nb1,hub,50,500,npu,\n' >kind.csv
"$WEFT" topo kind.csv | sed -n 1,3p
"$WEFT" topo kind.csv --graphml - -q | sed 's/"latency_ns"/"lat_ns"/' >latency.graphml
facts() { "$WEFT" topo "$1" --of json | sed 's/{"weft": {[^}]*}, "network": "[^"]*", //'; }
facts latency.graphml >from_xml
facts kind.csv | diff - from_xml && echo alike
sed 's/src,dst,bw_GBps,latency_ns,kind,dst_kind/src,dst,bw_GBps,latency_ns,kind,src_kind/' kind.csv >both.csv
run topo both.csv
sed 's/npu,switch/cable,switch/' kind.csv >cable.csv
run topo cable.csv
sed 's/<key id="e_bw_GBps"/<key id="twice" for="edge" attr.name="latency_ns" attr.type="double"\/>&/; s/<data key="e_bw_GBps">/<data key="twice">1<\/data>&/' latency.graphml >twice.graphml
run topo twice.graphml
