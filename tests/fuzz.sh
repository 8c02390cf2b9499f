#!/bin/sh
# Run each fuzzer for a while, and print what it did: executions, their rate, findings.
#     tests/fuzz.sh build/fuzz-clang SECONDS [FUZZER..]
# Corpora stay in FOLDER/corpus; tests/fuzz/corpus holds the seeds that are kept, and inputs that once found
# something. Exit 1 when there is a finding: its file is in FOLDER/findings, and FUZZER FILE runs it again.
set -eu
cd "$(dirname "$0")/.."
build=$1
seconds=$2
shift 2
# Names of files here have no blanks.
# shellcheck disable=SC2046
[ $# -gt 0 ] || set -- $(find "$build/fuzz" -name 'fuzz_*' -type f | sed 's|.*/||' | sort)
weft=$build/weft
mkdir -p "$build/findings"

# What libFuzzer puts into inputs: keys, their words, and what YAML is made of.
"$weft" keys --of json | grep -o '"\(key\|words\)": "[^"]*"' | sed 's/^"[a-z]*": "//; s/"$//' | tr -s ' ,' '\n' |
    grep -x '[A-Za-z0-9_.+-]*' | sort -u | sed 's/.*/"&"/' >"$build/keys.dict"
printf '"%s"\n' ': ' '{ ' ' }' '[' ']' ', ' '\x0a- ' '\x0a  ' vary where 1e308 1e-308 -1 0 2147483647 .inf .nan >>"$build/keys.dict"

# seed N FILE..: files for line N of tests/fuzz/fuzz_program.c, whose first byte is that number.
seed() {
    line=$1
    shift
    for file in "$@"; do
        { printf %b "\\0$(printf %o "$line")"; cat "$file"; } >"$build/corpus/fuzz_program/seed-$line-$(basename "$file")"
    done
}

# The documents of tests/cli are small and of every kind; each is seen by every command. Stores of both versions.
seed_program() {
    tests/studies.sh "$build/seeds"
    for line in 0 1 2 3 4 6 7 15 16; do seed $line "$build"/seeds/*.yaml; done
    seed 14 configs/clusters/*.yaml
    seed 21 configs/curves/*
    printf 'op,precision,pass,m,n,k,time_us\nmatrix,bf16,forward,4096,4096,4096,%s\nmatrix,bf16,forward,512,512,512,%s\n' 600 3 >"$build/ops.csv"
    printf 'op,bytes,time_us\nstream,1e9,700\nstream,1e6,3\n' >"$build/streams.csv"
    seed 20 "$build/ops.csv" "$build/streams.csv"
    printf 'network: "ring:4 switch:8"\ntotal_GBps: 100\nworkload: %s\nvary: { total_GBps: [100, 200] }\n' "$PWD/configs/workloads/dlrm.yaml" >"$build/small.yaml"
    printf 'model: slots\nracks: { servers: 4 }\njobs: { count: 5 }\nschedulers: [fifo]\nslots: 20\n' >"$build/jobs.yaml"
    for study in small jobs; do
        "$weft" sweep -f "$build/$study.yaml" --store "$build/$study.db" >/dev/null 2>&1 || :
        [ ! -s "$build/$study.db" ] || for line in 17 18 19; do seed $line "$build/$study.db"; done
    done
}

# The program prints, and a study may ask for hours of work: such inputs are counted, and left.
options_of() {
    case $1 in
    fuzz_program) echo "-close_fd_mask=3 -dict=$build/keys.dict -fork=1 -ignore_timeouts=1 -timeout=5 -max_len=16384" ;;
    fuzz_expr | fuzz_json | fuzz_table) echo "-timeout=10 -max_len=4096" ;;
    *) echo "-timeout=20 -max_len=16384" ;;
    esac
}

# OpenMP's threads wait by spinning otherwise, and take turns with the one that works.
OMP_NUM_THREADS=${OMP_NUM_THREADS:-2}
OMP_WAIT_POLICY=passive
ASAN_OPTIONS=detect_leaks=1:allocator_may_return_null=1:detect_stack_use_after_return=1
LC_ALL=C
export OMP_NUM_THREADS OMP_WAIT_POLICY ASAN_OPTIONS LC_ALL

found=0
printf '%-18s %12s %10s %8s  %s\n' fuzzer executions 'per second' seconds findings
for name in "$@"; do
    corpus=$build/corpus/$name
    mkdir -p "$corpus"
    [ "$name" != fuzz_program ] || seed_program
    kept=
    [ ! -d "tests/fuzz/corpus/$name" ] || kept=tests/fuzz/corpus/$name
    log=$build/$name.log
    began=$(date +%s)
    rc=0
    rm -f "$build/findings/$name-"*
    # Options and folders are words without blanks.
    # shellcheck disable=SC2046,SC2086
    "$build/fuzz/$name" -max_total_time="$seconds" -rss_limit_mb=3000 -print_final_stats=1 \
        -artifact_prefix="$build/findings/$name-" $(options_of "$name") "$corpus" $kept >"$log" 2>&1 || rc=$?
    spent=$(($(date +%s) - began))
    # A fuzzer that forks says how far it is as "#RUNS: cov: ..".
    runs=$(sed -n 's/^stat::number_of_executed_units: *//p; s/^#\([0-9]*\): cov:.*/\1/p' "$log" | tail -n 1)
    what=$(find "$build/findings" -name "$name-*" ! -name 'fuzz_program-timeout-*' | tr '\n' ' ')
    [ -z "$what" ] || found=1
    [ "$rc" = 0 ] || found=1
    [ "$rc" = 0 ] || [ -n "$what" ] || what="ended with code $rc, see $log"
    printf '%-18s %12s %10s %8s  %s\n' "$name" "${runs:-?}" "$((${runs:-0} / (spent > 0 ? spent : 1)))" "$spent" "${what:-none}"
done
exit $found
