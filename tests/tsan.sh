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
whole=0
races=0
# of THREADS COMMAND..
of() {
    threads=$1
    shift
    rc=0
    OMP_NUM_THREADS=$threads timeout 120 "$weft" "$@" >/dev/null 2>"$work/log" || rc=$?
    runs=$((runs + 1))
    [ $rc != 0 ] || whole=$((whole + 1))
    [ $rc != 124 ] || echo "weft $*: stopped after 120 s"
    grep -q 'WARNING: ThreadSanitizer' "$work/log" || return 0
    races=$((races + 1))
    echo "weft $*: threads race"
    grep -m 1 -A 12 'WARNING: ThreadSanitizer' "$work/log"
}

for study in main torus-slices rails-taper hetero-dlrm; do
    of 2 sweep configs/studies/$study.yaml -j 2
    of 4 sweep configs/studies/$study.yaml -j 4 --store "$work/$study.db"
done
of 4 sweep configs/studies/llama3-owned.yaml -j 4 --set 'vary={system.checkpoint.restart_s: [120, 300, 600, 900]}'
of 3 tornado configs/studies/deepseek-v3-gb300.yaml
of 3 explain configs/studies/llm-gpt3-selene.yaml
cd "$work/studies"
for study in *.yaml; do
    if grep -q '^vary:\|^seeds:\|^schedulers:\|^methods:' "$study"; then
        of 2 sweep "$study" -j 2
        of 4 sweep "$study" -j 4 --store "$work/$study.db"
    fi
    ! grep -q '^ *search:' "$study" || of 3 explain "$study"
done
echo "$runs runs on 2 to 4 threads, $whole of them to a good end: $races with races"
# Studies that are wrong on purpose are among them.
[ $races = 0 ] && [ $whole -ge 20 ]
