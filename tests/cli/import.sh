#!/bin/sh
# Networks and systems of ASTRA-sim 2: read as a study, written from one, and back again.
cd "$TMPDIR" || exit 1
# Comments of a study give version and command; those with a place are warnings.
run() { echo "\$ weft $*"; "$WEFT" "$@" 2>&1 | grep -v '^# version'; }
code() { echo "\$ weft $*"; "$WEFT" "$@" 2>&1; echo "exit $?"; }

cat >net.yml <<..
# three dimensions, 4,096 NPUs
topology: [ Ring, FullyConnected, Switch ]
npus_count: [ 16, 8, 32 ]
bandwidth: [ 200.0, 100.0, 50.0 ]  # GB/s
latency: [ 50.0, 500.0, 2000.0 ]  # ns
..
cat >sys.json <<..
{
	"scheduling-policy": "LIFO",
	"endpoint-delay": 10,
	"active-chunks-per-dimension": 1,
	"preferred-dataset-splits": 64,
	"all-reduce-implementation": ["ring", "direct", "halvingDoubling"],
	"all-gather-implementation": ["ring", "direct", "ring"],
	"collective-optimization": "localBWAware",
	"inter-dimension-scheduling": "themis",
	"local-mem-bw": 1600
}
..
run import net.yml
run import net.yml sys.json
code import net.yml sys.json -q -o study.yaml
code topo study.yaml --spec

echo "== and back"
code topo study.yaml --astra -
code topo study.yaml --astra-system -
code topo study.yaml --astra back.yml --astra-system back.json -o facts.txt
code topo study.yaml --astra back.yml
"$WEFT" import net.yml | sed '/^#/d' >a
"$WEFT" import back.yml | sed '/^#/d' | diff a - && echo "networks agree"
"$WEFT" import -q net.yml sys.json | sed '/^#/d' >a
"$WEFT" import back.yml back.json | sed '/^#/d' | diff a - && echo "systems agree"
cat >more.yaml <<..
network:
  dims:
    - { shape: ring, size: 2, bw_GBps: 100, latency_ns: 700 }
    - { name: pod, shape: switch, size: 8, bw_GBps: 50, latency_ns: 1000, efficiency: 0.5, in_switch: sharp }
simulation: { chunks: 8 }
..
code topo more.yaml --astra -
code topo more.yaml --astra-system -

echo "== wrong"
code import
code import net.yml sys.json more
code import nosuch.yml
code import net.yml nosuch.json
code import sys.json
code import net.yml sys.json -o study.yaml
code topo "line:4@50" --astra -
printf 'src,dst,bw_GBps,latency_ns\na,b,1,10\n' >edges.csv
code topo edges.csv --astra -
code topo "ring:4" --astra -
code topo "ring:4@5" --spec --astra -
code topo "switch:6@5" --astra-system -
bad() {
    echo "== $1"
    printf '%b' "$2" >bad
    # The network comes first when the fault is in the system.
    # shellcheck disable=SC2086
    "$WEFT" import ${3-} bad 2>&1
    echo "exit $?"
}
bad "word" "topology: [ Ring, Swich ]\nnpus_count: [ 4, 4 ]\nbandwidth: [ 1, 1 ]\nlatency: [ 1, 1 ]\n"
bad "length" "topology: [ Ring ]\nnpus_count: [ 4, 4 ]\n"
bad "missing" "topology: [ Ring ]\nnpus_count: [ 4 ]\nlatency: [ 1 ]\n"
bad "bandwidth" "topology: [ Ring ]\nnpus_count: [ 4 ]\nbandwidth: [ -1 ]\nlatency: [ 1 ]\n"
bad "one algorithm for three dimensions" '{ "all-reduce-implementation": ["ring"] }' net.yml
bad "flattened" '{ "all-reduce-implementation": ["oneRing"] }' net.yml
bad "no chunks" '{ "preferred-dataset-splits": 0 }' net.yml
bad "given twice" '{ "endpoint-delay": 1,\n  "endpoint-delay": 2 }' net.yml
bad "not JSON" '{ "endpoint-delay": 1,\n  "local-mem-bw" 2 }' net.yml
