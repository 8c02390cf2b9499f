#!/bin/sh
# Figures: what the command says and writes; what is in a figure is tested with plots/.
cd "$TMPDIR" || exit 1
run() { echo "\$ weft $*"; "$WEFT" "$@" 2>&1; echo "exit $?"; }
cat >study.yaml <<..
network: ring:4 switch:8
workload:
  name: toy
  step: { sum: [ { compute_ms: 1 }, { all-reduce: { size_MB: 100, group: all } } ] }
vary:
  total_GBps: { from: 100, to: 300, step: 100 }
..
run plot --list
"$WEFT" sweep study.yaml -o rows.csv
run plot speedup rows.csv -o speedup.svg
head -c 38 speedup.svg; echo
run plot speedup rows.csv -o speedup.pdf
head -c 4 speedup.pdf; echo
run plot speedup rows.csv --of png -o speedup.image
head -c 4 speedup.image | tail -c 3; echo
"$WEFT" plot speedup rows.csv | cmp - speedup.svg && echo "standard output is SVG"
"$WEFT" plot speedup - <rows.csv | cmp - speedup.svg && echo "- is standard input"
run plot speedup rows.csv -o speedup.svg
run plot speedup rows.csv -f -o speedup.svg --title "A title" --width 400 --height 300 --where total_GBps=100 --where total_GBps=200
grep -c "A title" speedup.svg
run plot speed rows.csv -o x.svg
run plot cost rows.csv -o x.svg
run plot speedup rows.csv -o x.svg --where network=none
run plot speedup rows.csv -o x.svg --where colour=red
run plot speedup nosuch.csv -o x.svg
run plot speedup study.yaml -o x.svg
ls
