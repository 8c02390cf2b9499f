#!/bin/sh
# The library as a user meets it: installed into an empty folder, the examples compiled through pkg-config, shared and
# static, run elsewhere; its numbers are those of the program; no name but those of weft.h is visible, each in the
# version of its release; nothing stays behind. Needs $FOLDER, a build.
set -eu
here=$(cd "$(dirname "$0")/.." && pwd)
cd "$here"
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
version=$(sed -n 's/^#define WEFT_VERSION  *"\(.*\)"/\1/p' include/weft.h)
top=$scratch/opt/weft
built=$(cd "$FOLDER" && pwd)

fail() {
    echo "tests/library.sh: $*"
    exit 1
}

names() {
    nm "$@" | awk '$2 ~ /[TDBRVW]/ { sub(/@.*/, "", $3); print $3 }' | LC_ALL=C sort -u
}

# ---- names ----
sed -n 's/^WEFT_API .*[ *]\(weft_[a-z_]*\)(.*/\1/p' include/weft.h | LC_ALL=C sort -u >"$scratch/declared"
names -D --defined-only "$built/libweft.so" >"$scratch/shared"
names --defined-only "$built/libweft.a" >"$scratch/static"
diff -u "$scratch/declared" "$scratch/shared" || fail "libweft.so shows other names than weft.h"
diff -u "$scratch/declared" "$scratch/static" || fail "libweft.a shows other names than weft.h"
# A program that was linked with the first release finds its names under that version.
for name in version load set split simulate run_defaults run notes column number text free_study free_row; do
    nm -D "$built/libweft.so" | grep -q " T weft_$name@@WEFT_0\.1\$" || fail "weft_$name is not of WEFT_0.1"
done
if readelf -d "$built/libweft.so" | grep -q 'NEEDED.*libmpi'; then fail "libweft.so needs MPI"; fi
if nm -u "$built/libweft.a" | grep -qwE 'exit|abort|printf|puts|getenv'; then
    nm -u "$built/libweft.a" | grep -wE 'exit|abort|printf|puts|getenv'
    fail "the library prints, exits or reads the environment"
fi

# ---- installed ----
DESTDIR=$scratch PREFIX=/opt/weft tests/install.sh install "$FOLDER" "$version"
PKG_CONFIG_PATH=$top/lib/pkgconfig
export PKG_CONFIG_PATH
[ "$(pkg-config --modversion weft)" = "$version" ] || fail "weft.pc has another version"
flags="--define-variable=prefix=$top"
for example in split rows lists; do
    # shellcheck disable=SC2046,SC2086 # flags are words
    ${CC:-gcc} -std=c11 -Wall -Wextra -Werror -o "$scratch/$example" "$top/share/doc/weft/examples/$example.c" \
        $(pkg-config $flags --cflags --libs weft) -lm
    # shellcheck disable=SC2046,SC2086
    ${CC:-gcc} -std=c11 -o "$scratch/$example-static" "$top/share/doc/weft/examples/$example.c" \
        $(pkg-config $flags --cflags weft) "$top/lib/libweft.a" \
        $(pkg-config --libs igraph libxml-2.0 gmp gsl yaml-0.1 libprotobuf-c jansson sqlite3) -lglpk -lgomp -lm
done
cat >"$scratch/cxx.cpp" <<'..'
#include <weft.h>
int main() { return weft_version()[0] == '\0'; }
..
# shellcheck disable=SC2046,SC2086
if command -v g++ >/dev/null; then
    g++ -Wall -Werror -o "$scratch/cxx" "$scratch/cxx.cpp" $(pkg-config $flags --cflags --libs weft)
fi

# ---- run ----
cd "$scratch"
LD_LIBRARY_PATH=$top/lib
export LD_LIBRARY_PATH
study=$top/share/weft/configs/studies/libra/gpt3-4d.yaml
./split "$study" 500 >split.txt || fail "split fails"
./split-static "$study" 500 | cmp - split.txt || fail "shared and static say different things"
"$top/bin/weft" alloc "$study" --set total_GBps=500 --of csv | sed '/^#/d' >alloc.csv
awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i }
    NR == 2 { printf "%g s\n", $at["time_s"] }' alloc.csv >time.txt
grep -q "$(cat time.txt)" split.txt || fail "split and weft alloc differ: $(cat split.txt time.txt)"
code=0
./split nothing.yaml 2>message.txt || code=$?
[ "$code" = 3 ] || fail "no such file: exit $code"
[ "$(wc -l <message.txt)" = 1 ] || fail "an error is one line"
code=0
./split "$study" -1 2>message.txt || code=$?
if [ "$code" != 3 ] || ! grep -q total_GBps message.txt; then fail "a wrong value: exit $code, $(cat message.txt)"; fi

sweep=$top/share/weft/configs/studies/main.yaml
./rows "$sweep" 1000 rows.db >rows.txt || fail "rows fails"
./rows-static "$sweep" 1000 | cmp - rows.txt || fail "memory and a store give different rows"
./rows "$sweep" 1000 rows.db | cmp - rows.txt || fail "a store that is complete gives other rows"

# ---- lists ----
# listed LIST COLUMN: values of the library. written PART KEY: numbers after what matches KEY, in what matches PART of the
# program's object. same WHAT: these are equal to the last digit, in the same order.
listed() {
    awk -F'\t' -v list="$1" -v column="$2" '$1 == list && $3 == column { print $4 }' lists.txt >library.txt
}
written() {
    grep -o "$1" alloc.json | grep -oE "$2: [-0-9.e+]+" | sed 's/.*: //' >program.txt
}
same() {
    [ -s program.txt ] || fail "$1: the program writes none"
    paste library.txt program.txt | awk 'NF != 2 || $1 + 0 != $2 + 0 { print; bad = 1 } END { exit bad }' ||
        fail "$1: library and program differ"
}
# ask STUDY: with both, and what every answer has.
ask() {
    ./lists split "$1" >lists.txt || fail "lists fails on $1"
    ./lists-static split "$1" | cmp - lists.txt || fail "shared and static list different things"
    "$top/bin/weft" alloc "$1" --of json >alloc.json 2>warnings.txt || fail "alloc fails on $1"
    listed shadow_prices shadow_price
    written '"shadow_prices": {[^}]*}' '"[^"]*"'
    same "shadow prices of $1"
    listed dims bw_GBps
    grep -o '"bw_GBps": \[[^]]*\]' alloc.json | sed 's/.*\[//; s/\].*//; q' | tr ',' '\n' >program.txt
    same "bandwidths of $1"
    awk -F'\t' '$1 == "bill" && $3 == "usd" { usd += $4 } END { printf "%.10g\n", usd }' lists.txt >library.txt
    written '"bill_usd": [^,]*' '"bill_usd"'
    awk '{ printf "%.10g\n", $1 }' program.txt >rounded.txt && mv rounded.txt program.txt
    same "sum of the bill of $1"
    listed warnings warning
    sed 's/^weft alloc: warning: //' warnings.txt | cmp - library.txt || fail "warnings of $1 differ"
}
configs=$top/share/weft/configs
cat >whole.yaml <<..
network:
  dims:
    - { name: node, shape: switch, size: 8, bw_GBps: 450, tier: InterPackage }
    - { name: rail, shape: switch, size: 32, tier: InterRail }
    - { name: spine, shape: switch, size: 4, tier: InterPod }
parts: $configs/parts/catalogue-2026.yaml
workload: $configs/workloads/gpt3.yaml
constraints: [ usd <= 30e6 ]
..
ask whole.yaml
for column in bw_GBps more_usd more_s; do
    listed steps $column
    written '"steps": .*"equal": ' "\"$column\""
    same "steps up and down, $column"
done
ask "$configs/studies/deepseek-v3-gb300.yaml"
[ -s library.txt ] || fail "no warning to compare"
for column in rows rows_same_precision mean_error band low_s high_s; do
    listed evidence $column
    written '"evidence": {[^}]*}' "\"$column\""
    same "evidence, $column"
done
ask "$configs/studies/nic-budget.yaml"
"$top/bin/weft" check "$configs/studies/nic-budget.yaml" --of json >alloc.json
for column in value limit slack; do
    listed budgets $column
    written '"budgets": .*' "\"$column\""
    same "budgets, $column"
done
owned=$configs/studies/llama3-owned.yaml
./lists explain "$owned" >lists.txt || fail "lists explain fails"
"$top/bin/weft" explain "$owned" --of json >alloc.json
while read -r list column; do
    listed "$list" "$column"
    written "\"$list\": [^]]*]" "\"$column\""
    same "$list, $column"
done <<..
what_limits path_s
what_limits endless_saves_s
one_more_GBps saves_s
one_more_GBps costs_usd
one_more_GBps one_usd_less_loses_s
bounds time_s
items price_usd
items power_usd_year
failures per_year
failures goodput_without
a_tenth_more usd_npu_h
a_tenth_more usd_work
..

# ---- from Python, with nothing said of where weft is ----
if [ -x /usr/bin/python3 ]; then
    PYTHONPATH=$(echo "$top"/lib/python3*/dist-packages) PYTHONDONTWRITEBYTECODE=1 /usr/bin/python3 - "$sweep" >rows.txt <<'..' ||
import sys, weft
study = weft.Study(sys.argv[1])
print(len(study.rows()), weft.configs() + "/studies/main.yaml" == sys.argv[1], weft.diff("ring:4@50", "ring:4@25")["weft"]["version"])
..
        fail "import weft fails"
    echo "240 True $version" | diff - rows.txt || fail "the installed module answers otherwise"
fi

# ---- gone ----
cd "$here"
DESTDIR=$scratch PREFIX=/opt/weft tests/install.sh uninstall "$FOLDER" "$version"
[ ! -e "$scratch/opt/weft" ] || fail "uninstall leaves $(find "$scratch/opt/weft" | head -3)"
