#!/bin/sh
# Where output goes: whole or not at all, never over what is there, with its origin in the head.
cd "$TMPDIR" || exit 1
net="ring:4@250 switch:32@50"
run() { echo "\$ weft $*"; "$WEFT" "$@" 2>&1; echo "exit $?"; }
hash() { sed 's/study_hash\(["=: ]*\)[0-9a-f]\{16\}/study_hash\1HASH/'; }

echo "== the extension of -o decides, --of decides first"
for file in a.txt a.csv a.json; do
    "$WEFT" topo "$net" -o $file && echo "$file: $(head -c 11 $file)"
done
"$WEFT" topo "$net" -o b.csv --of json && echo "b.csv: $(head -c 11 b.csv)"

echo "== - is standard output"
"$WEFT" topo "$net" --spec -o -

echo "== the head names version, command and study; not where it was written or with how many threads"
"$WEFT" topo "$net" --of csv -q -f -o c.csv && head -4 c.csv | hash
"$WEFT" topo "$net" --of json --set 'network=it'"'"'s' 2>&1
"$WEFT" keys npu --of json | head -1

echo "== a file that exists is kept, -f replaces it"
echo precious >d.csv
run topo "$net" -o d.csv
cat d.csv
run topo "$net" -f -o d.csv
head -1 d.csv

echo "== a full disk is an error and leaves nothing"
run topo "$net" -o /dev/full
{ "$WEFT" topo "$net" >/dev/full; } 2>&1
echo "exit $?"
(ulimit -f 1; "$WEFT" keys -o keys.csv 2>&1; echo "exit $?") | cat
(ulimit -f 1; "$WEFT" keys -f -o d.csv 2>&1; echo "exit $?") | cat
head -1 d.csv
run topo "$net" -o nosuch/e.csv
ls -A
