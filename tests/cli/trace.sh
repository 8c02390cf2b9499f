#!/bin/sh
# Job traces of clusters, each format's sample as one table; profiles, windows, bad records.
traces=$PWD/tests/traces
profiles=$PWD/configs/clusters/profiles
cd "$TMPDIR" || exit 1
ln -s "$traces" traces
mkdir -p configs/clusters
ln -s "$profiles" configs/clusters/profiles
run() { echo "\$ weft $*"; "$WEFT" "$@" 2>&1 | grep -v '^# version'; }
code() { echo "\$ weft $*"; "$WEFT" "$@" 2>&1; echo "exit $?"; }

run import --trace philly traces/philly.json
run import --trace helios traces/helios.csv
run import --trace sacct traces/sacct.txt
run import --trace acme traces/acme_seren.csv
run import --trace acme traces/acme_kalos.csv
run import --trace pai traces/pai
run import --trace pai traces/pai/pai_task_table.csv -q
run import --trace openb traces/openb.csv
run import --trace google traces/google
run import --trace gavel traces/gavel.trace
run import --trace tiresias traces/tiresias.csv
run import --trace pollux traces/pollux.csv
run import --trace swf traces/log.swf
run import --trace csv traces/canonical.csv --cpu-jobs

echo "== what is written reads as itself"
"$WEFT" import --trace helios traces/helios.csv --profile vision-2019 -q -o jobs.csv
"$WEFT" import --trace csv jobs.csv -q | sed 1,2d >again.csv
sed 1,2d jobs.csv | cmp - again.csv && echo "the same"
code import --trace helios traces/helios.csv -q -o jobs.csv
"$WEFT" import --trace csv - <jobs.csv -q | sed 1,2d | cmp - again.csv && echo "the same from standard input"
code import --trace csv jobs.csv -q -o jobs.json --window 2 --start 1
cut -c1-200 jobs.json

echo "== drawn"
run import --trace helios traces/helios.csv --profile vision-2019
run import --trace google traces/google --profile google-arrivals-gadget --seed 2
run import --trace pollux traces/pollux.csv --profile configs/clusters/profiles/llm-2024.yaml

echo "== part of it"
run import --trace helios traces/helios.csv --window 3 --start 2 --horizon-s 1000
run import --trace helios traces/helios.csv --window 3 --seed 5 -q
run import --trace helios traces/helios.csv --status killed --status unknown --max-gpus 8
code import --trace helios traces/helios.csv --window 9
code import --trace helios traces/helios.csv --status passed
code import --trace helios traces/helios.csv --max-gpus 1 --status pass --start 2

echo "== wrong"
code import --trace
code import --trace slurm traces/helios.csv
code import --trace helios
code import --trace helios traces/helios.csv more.csv
code import --trace helios none.csv
code import --trace helios traces
code import --trace helios traces/acme_seren.csv -q
code import --trace acme traces/philly.json
code import --trace philly traces/helios.csv
code import --trace csv traces/helios.csv
code import --trace helios traces/helios.csv --profile nosuch
code import --trace helios traces/helios.csv --seed 0
code import --window 5 net.yml
sed 's/^503,uB,vc2,8/503,uB,vc2,-8/; s/^507.*/507/' traces/helios.csv >bad.csv
code import --trace helios bad.csv
run import --trace helios bad.csv --skip-bad
