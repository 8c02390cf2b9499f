#!/bin/sh
# Run the studies of tests/cli on 2 to 4 threads with a program that was built with ThreadSanitizer.
#     tests/tsan.sh build/tsan-clang/weft
# Exit 1 where threads race; what they did is in the log that is named.
set -eu
cd "$(dirname "$0")/.."
weft=$PWD/$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
tests/studies.sh "$work/studies"
# Archer tells the sanitizer how OpenMP's threads wait for each other; OpenMP itself and the libraries that are
# not instrumented are left out.
archer=$(find /usr/lib/llvm-*/lib -name libarcher.so 2>/dev/null | head -n 1)
[ -n "$archer" ] || { echo "tests/tsan.sh: libarcher.so is missing; install libomp-dev" >&2; exit 2; }
OMP_TOOL_LIBRARIES=$archer
TSAN_OPTIONS=ignore_noninstrumented_modules=1:exitcode=66
LC_ALL=C
export OMP_TOOL_LIBRARIES TSAN_OPTIONS LC_ALL

runs=0
races=0
limits=0
# of THREADS COMMAND.. STUDY
of() {
    threads=$1
    shift
    rc=0
    OMP_NUM_THREADS=$threads timeout 60 "$weft" "$@" >/dev/null 2>"$work/log" || rc=$?
    runs=$((runs + 1))
    [ $rc != 124 ] || limits=$((limits + 1))
    grep -q 'WARNING: ThreadSanitizer' "$work/log" || return 0
    races=$((races + 1))
    echo "weft $*: threads race"
    grep -m 1 -A 12 'WARNING: ThreadSanitizer' "$work/log"
}

cd "$work/studies"
for study in *.yaml; do
    if grep -q '^vary:\|^seeds:\|^schedulers:\|^methods:' "$study"; then
        of 2 sweep "$study" -j 2
        of 4 sweep "$study" -j 4 --store "$work/$study.db"
    fi
    ! grep -q '^ *search:' "$study" || of 3 explain "$study"
done
echo "$runs runs on 2 to 4 threads: $races with races, $limits stopped after 60 s"
[ $races = 0 ] && [ $runs -gt 50 ]
