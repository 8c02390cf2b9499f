#!/bin/sh
# The way from shards to Parquet that docs/store.md shows: types and values of all columns come through. Skipped with a
# line where node, or DuckDB's npm package, is not there; DUCKDB=FOLDER has node_modules with @duckdb/node-api.
#     FOLDER=build/release DUCKDB=FOLDER tests/parquet.sh
set -eu
cd "$(dirname "$0")/.."
weft=$PWD/${FOLDER:-build/release}/weft
script=$PWD/examples/parquet.mjs
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
die() {
    echo "tests/parquet.sh: $*"
    exit 1
}
command -v node >/dev/null || { echo "tests/parquet.sh: skipped, node is missing"; exit 0; }
[ -d "${DUCKDB:-.}/node_modules/@duckdb/node-api" ] || {
    echo "tests/parquet.sh: skipped, npm package @duckdb/node-api is missing (DUCKDB says where)"
    exit 0
}
cp "$script" "$work"
ln -s "$(realpath "$DUCKDB")/node_modules" "$work/node_modules"
cd "$work"
cat >study.yaml <<..
network: ring:4 switch:8
workload: { name: "toy, 'quoted' \"words\"", step: { sum: [ { compute_ms: 1 }, { all-reduce: { size_MB: 100, group: all } } ] } }
vary: { network: ["ring:4 switch:8", "full:4 ring:2 switch:4"], total_GBps: { from: 100, to: 400, points: 101 } }
constraints: [ "total >= 150" ]
..
mkdir shards
for i in 1 2 3; do "$weft" sweep study.yaml --store shards/$i.db --shard $i/3 -q 2>/dev/null || :; done
"$weft" export shards --typed -o rows.csv
node parquet.mjs rows.csv rows.parquet || die "no Parquet file was written"
# Written again as text, numbers and blanks are those of the rows.
sql() { node parquet.mjs --sql "$1"; }
awk -F, '!/^#/' rows.csv | tail -n +2 | wc -l >want
sql "SELECT count(*) FROM 'rows.parquet'" | cmp -s want - || die "rows: $(sql "SELECT count(*) FROM 'rows.parquet'"), expected $(cat want)"
[ "$(sql "SELECT DISTINCT workload FROM 'rows.parquet'")" = "toy, 'quoted' \"words\"" ] || die "texts do not come through"
python3 - <<'..' >want
import csv
rows = list(csv.DictReader(line for line in open("rows.csv") if not line.startswith("#")))
solved = [r for r in rows if r["status"] == "solved"]
print(len(solved), sum(1 for r in rows if r["time_s"] == ""), repr(min(float(r["time_s"]) for r in solved)),
      repr(max(float(r["bw1_GBps"]) for r in solved)), sep="\t")
..
sql "SELECT count(*) FILTER (status = 'solved'), count(*) FILTER (time_s IS NULL), min(time_s), max(bw1_GBps) FROM 'rows.parquet'" >got
cmp want got || die "numbers: $(cat got), expected $(cat want)"
sql "SELECT DISTINCT column_type FROM (DESCRIBE SELECT point, time_s, network FROM 'rows.parquet') ORDER BY 1" | tr '\n' ' ' >got
[ "$(cat got)" = "BIGINT DOUBLE VARCHAR " ] || die "types are $(cat got)"
"$weft" export shards -o plain.csv
node parquet.mjs plain.csv no.parquet 2>said && die "a CSV without types is not refused"
grep -q 'weft export --typed' said || die "a CSV without types: does not say what is needed"
echo "tests/parquet.sh: rows, types and values come through"
