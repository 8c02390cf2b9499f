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

echo "== two outputs under one name, however it is spelled"
run topo "$net" -o two.csv --graphml ./two.csv
run topo "$net" --dot ./two.xml --graphml two.xml
run topo "$net" --dot - --graphml -
run topo "$net" -f -o facts.txt --dot - >graph.dot
head -1 facts.txt
cat >s.yaml <<EOF
network: { dims: [ { shape: ring, size: 4, bw_GBps: 50 } ] }
workload: { step: { all-reduce: { size_MB: 1, group: all } } }
EOF
run sim s.yaml --model all --timeline x.csv --links ./x.csv
run sim s.yaml -f -o s.yaml

echo "== an operand that begins with -, as the head records it"
cp s.yaml -- -dash.yaml
"$WEFT" topo --of csv -- -dash.yaml >one.csv && sed -n 's/^# command=//p' one.csv
eval "\"\$WEFT\" $(sed -n 's/^# command=weft //p' one.csv)" | cmp - one.csv && echo "the same again"
"$WEFT" topo --of csv -- s.yaml | sed -n 's/^# command=//p'

echo "== -f replaces no file that the command reads"
mkdir parts
printf 'dims: [ { shape: ring, size: 4 } ]\n' >parts/net.yaml
printf 'network: parts/net.yaml\nworkload: { step: { all-reduce: { size_MB: 1, group: all } } }\nvary: { total_GBps: [10, 20] }\n' >v.yaml
"$WEFT" sweep v.yaml -q --store v.db 2>/dev/null
"$WEFT" sweep v.yaml -q -o v.csv
ln -s parts/net.yaml link.csv
run sim v.yaml -f -o parts/net.yaml
run sweep v.yaml -f -o link.csv
run sim s.yaml --set network=parts/net.yaml -f --links ./parts/../parts/net.yaml --model flow
run export v.db -f -o v.db
run front v.csv -f -o ./v.csv
run plot pareto v.csv --of gp -f -o v.csv
run merge -f v.yaml v.db
"$WEFT" merge -f v.db v.db && "$WEFT" export v.db --of csv | cmp - v.csv && echo "merge reads all before"
echo "== a name that promises what is not written"
run sweep v.yaml -o rows.db
run export v.db -o rows.xlsx
run export v.db -q -o rows.xlsx --of csv
for ending in pdf svg yaml tsv db; do run alloc "$net@100" -o "rows.$ending"; done
run topo "$net" -q -o run-1.2 && rm run-1.2
run topo "$net" -o rows.JSON -q && rm rows.JSON
run topo "$net" --dot net.graphml
run topo "$net" --graphml net.csv
run topo "$net" --astra net.json
run sim v.yaml --links links.json
run place v.yaml --jobs jobs.json
run import v.yaml -o net.csv
run import --trace philly v.yaml -o jobs.yaml
run calibrate v.yaml -o fit.svg
run sweep v.yaml --store rows.csv.csv
run merge merged.json v.db
echo "== links stay"
ln -s there.csv dangling.csv
"$WEFT" export v.db -o dangling.csv && [ -L dangling.csv ] && cmp there.csv v.csv && echo "the file is where the link leads"
echo "== files that belong together appear together"
run topo "ring:4@100" --dot small.dot -o /dev/full
[ -e small.dot ] || echo "small.dot is not there either"

echo "== what is read is told by the file, not by its name or by who names it"
for i in 1 2; do
    echo 'rates: [ { tier: a, link_usd_per_GBps: 4 } ]' >parts/rates$i.yaml
    echo "{ parts: rates$i.yaml, dims: [ { shape: ring, size: 4, tier: a, bw_GBps: $i } ] }" >parts/ring$i.yaml
    echo "{ network: parts/ring$i.yaml, workload: { step: { all-reduce: { size_MB: 1, group: all } } } }" >ring$i.yaml
done
sed 's,parts/ring1.yaml,ring:4,; s,^{,{ vary: { network: [parts/ring1.yaml\, parts/ring2.yaml] }\, ,' ring1.yaml >axis.yaml
run sweep axis.yaml -q -f -o parts/rates2.yaml
run diff ring1.yaml ring2.yaml -f -o parts/ring2.yaml
printf 'job_id,submit_s,gpus\n0,0,1\n' >jobs.csv
echo '{ name: p, gpus: { values: [1, 2], weights: [1, 1] }, iters: { from: 10, to: 20 }, batch: { values: [32] }, models: [ { name: m, grad_MB: 100, iter_ms: 5 } ] }' >profile.csv
"$WEFT" import --trace csv jobs.csv --profile profile.csv -f -o profile.csv 2>&1 | grep -o "is a file that the command reads"
# shellcheck disable=SC2094 # that is what is tried
"$WEFT" front - --by time_s,total_GBps -f -o v.csv <v.csv 2>&1 | grep -o "is a file that the command reads"
: >v.db-wal
run export v.db -q -f -o v.db-wal
rm v.db-wal
run sweep v.yaml -q --store c.csv -f -o ./c.csv
ln -s late.db late.csv
run sweep v.yaml -q --store late.db -f -o late.csv
ln -s there2.csv dangling2.csv
run topo "$net" -f --dot there2.csv -o dangling2.csv
cp v.db other.db
printf 'cook' | dd of=other.db bs=1 seek=68 conv=notrunc 2>/dev/null
cp other.db kept.db
run merge -f other.db v.db
cmp other.db kept.db && echo "another program's database is as it was"

echo "== a study is read more than once, so not from standard input"
run sim - <s.yaml
run sweep - <v.yaml

echo "== closed standard streams lend their numbers to no file"
"$WEFT" sweep v.yaml --store v.db 2>&-
echo "exit $?"
{ "$WEFT" sweep v.yaml -q --store v.db --of csv >&-; } 2>&1
echo "exit $?"
{ "$WEFT" topo "$net" --dot closed.dot >&- <&-; } 2>&1
echo "exit $?"
[ -e closed.dot ] || echo "closed.dot is not there"
"$WEFT" export v.db -q --of csv -f -o v2.csv && cmp v.csv v2.csv && echo "the store is as it was"

echo "== descriptors go on where they are"
{ echo head; "$WEFT" topo ring:4@50 --spec -o /dev/stdout; "$WEFT" topo ring:4@60 --spec -f -o /dev/fd/1; echo tail; } >spec.txt
cat spec.txt
{ echo head >&3; "$WEFT" topo ring:4@50 --spec -o /dev/fd/3; echo tail >&3; } 3>spec.txt
cat spec.txt
run sweep v.yaml -o /dev/fd/17
# shellcheck disable=SC2094
run sim s.yaml --model flow --links links.csv -f >links.csv
cat links.csv

echo "== a folder that is not there is known before the work; permissions stay"
run sweep v.yaml -o nosuch/v.csv
run topo "$net" -o ""
echo old >closed.csv && chmod 000 closed.csv
"$WEFT" topo "$net" -f -o closed.csv && stat -c %a closed.csv
