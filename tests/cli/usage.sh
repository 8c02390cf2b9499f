#!/bin/sh
# Misuse: two lines on standard error, nothing on standard output, exit 2.
run() {
    echo "\$ weft $*"
    "$WEFT" "$@" 2>"$TMPDIR/err" >"$TMPDIR/out"
    echo "exit $?"
    cat "$TMPDIR/err"
    [ ! -s "$TMPDIR/out" ] || echo "FAULT: something on standard output"
    [ "$(wc -l <"$TMPDIR/err")" = 2 ] || echo "FAULT: not two lines"
}
net="ring:4@250 switch:32@50"
run
run aloc
run nosuch
run help swep
run help alloc sim
run --verbose
run --version --quiet
run help --man weft-nosuch.1
run topo
run alloc one.yaml two.yaml
run topo "$net" --grapml x
run topo "$net" --of xml
run topo "$net" --of jsn
run topo "$net" --of
run topo "$net" --of csv --of json
run topo "$net" --spec=yes
run topo "$net" -x
run topo "$net" --zzz
run plot xy x.csv --zzz
run sweep x.yaml --columns
run topo "$net" --set size
run topo "$net" -o
run topo "$net" -o --of csv
run sweep x.yaml -j 0
run sweep x.yaml --threads 1e3
run sim x.yaml --model fast
run plot
run plot speedup
run plot speedup x.csv -o speedup.gif
run plot speedup x.csv --where total
run plot speedup x.csv --width 3
run keys dimz
run keys nosuch
run topo "$net" --spec --bill
run topo some.graphml --set npu.usd=1
run ""
run alloc x.yaml --set =1
run alloc x.yaml --set ""
run alloc --
run alloc configs/studies/nic-budget.yaml --parts configs/parts/libra-2024.yaml --set parts=other.yaml
run sim configs/studies/three-switches.yaml --model flow --set model=chunk
touch "$TMPDIR/there.csv"
run topo "$net" -o "$TMPDIR/there.csv"
run topo "$net" --dot "$TMPDIR/there.csv"
