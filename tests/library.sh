#!/bin/sh
# The library as a user meets it: installed into an empty folder, both examples compiled through pkg-config, shared
# and static, run elsewhere; no name but those of weft.h is visible; nothing stays behind. Needs $FOLDER, a build.
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
    nm "$@" | awk '$2 ~ /[TDBRVW]/ { print $3 }' | LC_ALL=C sort -u
}

# ---- names ----
sed -n 's/^WEFT_API .*[ *]\(weft_[a-z_]*\)(.*/\1/p' include/weft.h | LC_ALL=C sort -u >"$scratch/declared"
names -D --defined-only "$built/libweft.so" >"$scratch/shared"
names --defined-only "$built/libweft.a" >"$scratch/static"
diff -u "$scratch/declared" "$scratch/shared" || fail "libweft.so shows other names than weft.h"
diff -u "$scratch/declared" "$scratch/static" || fail "libweft.a shows other names than weft.h"
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
for example in split rows; do
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

# ---- gone ----
cd "$here"
DESTDIR=$scratch PREFIX=/opt/weft tests/install.sh uninstall "$FOLDER" "$version"
[ ! -e "$scratch/opt/weft" ] || fail "uninstall leaves $(find "$scratch/opt/weft" | head -3)"
