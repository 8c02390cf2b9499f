#!/bin/sh
# Run each fuzzer for a while, and print what it did: executions, their rate, findings.
#     tests/fuzz.sh [-n EXECUTIONS] BUILD SECONDS [FUZZER..]
#     tests/fuzz.sh -k BUILD [FUZZER..]
# SECONDS 0: only what the corpora hold. -n: again and again, until so many were run in all, by this and former calls;
# a fuzzer with a finding waits until its file is gone. build/fuzzing belongs to all builds: corpora, findings
# (BUILD/fuzz/FUZZER FILE runs one again), logs, and in runs.csv what each run did. tests/fuzz/corpus holds the seeds that
# are kept, and inputs that once found something; tests/fuzz/corpus.tar.xz, from which corpora begin, the fewest inputs
# that reach what all of former runs reach: -k packs them anew. Exit 1 when there is a finding.
set -eu
cd "$(dirname "$0")/.."
wanted=0
keep=
case $1 in
-n) wanted=$2; shift 2 ;;
-k) keep=1; shift ;;
esac
build=$1
seconds=0
shift
[ -n "$keep" ] || { seconds=$1; shift; }
# Names of files here have no blanks.
# shellcheck disable=SC2046
[ $# -gt 0 ] || set -- $(find "$build/fuzz" -name 'fuzz_*' -type f | sed 's|.*/||' | sort)
weft=$build/weft
state=build/fuzzing
mkdir -p "$state/findings" "$state/logs"
[ -d "$state/corpus" ] || { mkdir "$state/corpus"; tar -xJf tests/fuzz/corpus.tar.xz -C "$state/corpus"; }
[ -s "$state/runs.csv" ] || echo 'began,build,fuzzer,executions,seconds,findings' >"$state/runs.csv"

# What libFuzzer puts into inputs: keys, their words, and what YAML is made of.
"$weft" keys --of json | grep -o '"\(key\|words\)": "[^"]*"' | sed 's/^"[a-z]*": "//; s/"$//' | tr -s ' ,' '\n' |
    grep -x '[A-Za-z0-9_.+-]*' | sort -u | sed 's/.*/"&"/' >"$state/keys.dict"
printf '"%s"\n' ': ' '{ ' ' }' '[' ']' ', ' '\x0a- ' '\x0a  ' vary where 1e308 1e-308 -1 0 2147483647 .inf .nan >>"$state/keys.dict"

# seed N FILE..: files for line N of tests/fuzz/fuzz_program.c, whose first byte is that number.
seed() {
    line=$1
    shift
    for file in "$@"; do
        { printf %b "\\0$(printf %o "$line")"; cat "$file"; } >"$state/corpus/fuzz_program/seed-$line-$(basename "$file")"
    done
}

# The documents of tests/cli are small and of every kind; each is seen by every command. Stores of both versions.
seed_program() {
    mkdir -p "$state/corpus/fuzz_program"
    tests/studies.sh "$state/seeds"
    for line in 0 1 2 3 4 6 7 15 16; do seed $line "$state"/seeds/*.yaml; done
    seed 14 configs/clusters/*.yaml
    seed 21 configs/curves/*
    printf 'op,precision,pass,m,n,k,time_us\nmatrix,bf16,forward,4096,4096,4096,%s\nmatrix,bf16,forward,512,512,512,%s\n' 600 3 >"$state/ops.csv"
    printf 'op,bytes,time_us\nstream,1e9,700\nstream,1e6,3\n' >"$state/streams.csv"
    seed 20 "$state/ops.csv" "$state/streams.csv"
    printf 'network: "ring:4 switch:8"\ntotal_GBps: 100\nworkload: %s\nvary: { total_GBps: [100, 200] }\n' "$PWD/configs/workloads/dlrm.yaml" >"$state/small.yaml"
    printf 'model: slots\nracks: { servers: 4 }\njobs: { count: 5 }\nschedulers: [fifo]\nslots: 20\n' >"$state/jobs.yaml"
    for study in small jobs; do
        "$weft" sweep -f "$state/$study.yaml" --store "$state/$study.db" >/dev/null 2>&1 || :
        [ ! -s "$state/$study.db" ] || for line in 17 18 19; do seed $line "$state/$study.db"; done
    done
}

# The program prints, and a study may ask for hours of work: such inputs are counted, and left.
options_of() {
    case $1:$seconds in
    fuzz_program:0) echo "-close_fd_mask=3 -timeout=600 -max_len=16384" ;;
    fuzz_program:*) echo "-close_fd_mask=3 -dict=$state/keys.dict -fork=1 -ignore_timeouts=1 -timeout=5 -max_len=16384" ;;
    fuzz_expr:* | fuzz_json:* | fuzz_table:*) echo "-timeout=60 -max_len=4096" ;;
    *) echo "-timeout=60 -max_len=16384" ;;
    esac
}

findings_of() {
    find "$state/findings" -name "$1-*" ! -name 'fuzz_program-timeout-*' ! -name 'fuzz_program-slow-unit-*' | tr '\n' ' '
}

# One line of the table; 1 where there is a finding.
run_fuzzer() {
    name=$1
    corpus=$state/corpus/$name
    log=$state/logs/$name.log
    mkdir -p "$corpus"
    kept=
    [ ! -d "tests/fuzz/corpus/$name" ] || kept=tests/fuzz/corpus/$name
    long=-max_total_time=$seconds
    [ "$seconds" != 0 ] || long=-runs=0
    began=$(date +%s)
    rc=0
    # Options and folders are words without blanks.
    # shellcheck disable=SC2046,SC2086
    "$build/fuzz/$name" $long -rss_limit_mb=3000 -print_final_stats=1 \
        -artifact_prefix="$state/findings/$name-" $(options_of "$name") "$corpus" $kept >"$log" 2>&1 || rc=$?
    spent=$(($(date +%s) - began))
    # A fuzzer that forks says how far it is as "#RUNS: cov: ..".
    runs=$(sed -n 's/^stat::number_of_executed_units: *//p; s/^#\([0-9]*\): cov:.*/\1/p' "$log" | tail -n 1)
    what=$(findings_of "$name")
    [ "$rc" = 0 ] || [ -n "$what" ] || what="ended with code $rc, see $log"
    echo "$(date -u -d "@$began" +%Y-%m-%dT%H:%M:%SZ),$(basename "$build"),$name,${runs:-0},$spent,$what" >>"$state/runs.csv"
    printf '%-18s %12s %10s %8s  %s\n' "$name" "${runs:-?}" "$((${runs:-0} / (spent > 0 ? spent : 1)))" "$spent" "${what:-none}"
    [ -z "$what" ]
}

executed() {
    awk -F , 'NR > 1 { n += $4 } END { printf "%.0f\n", n }' "$state/runs.csv"
}

# OpenMP's threads wait by spinning otherwise, and take turns with the one that works. Without ASan glibc fills
# what is allocated and freed.
OMP_NUM_THREADS=${OMP_NUM_THREADS:-2}
OMP_WAIT_POLICY=passive
ASAN_OPTIONS=detect_leaks=1:allocator_may_return_null=1:detect_stack_use_after_return=1
MALLOC_PERTURB_=165
LC_ALL=C
export OMP_NUM_THREADS OMP_WAIT_POLICY ASAN_OPTIONS MALLOC_PERTURB_ LC_ALL

case " $* " in *" fuzz_program "*) seed_program ;; esac

# Seeds of the program are made anew each time; what they reach need not be kept.
pack() {
    rm -rf "$state/kept"
    for name in "$@"; do
        mkdir -p "$state/kept/$name"
        find "$state/corpus/$name" -name 'seed-*' -exec cp -t "$state/kept/$name" '{}' +
        "$build/fuzz/$name" -merge=1 -close_fd_mask=1 -timeout=60 -rss_limit_mb=3000 "$state/kept/$name" "$state/corpus/$name" \
            >"$state/logs/$name.log" 2>&1
        find "$state/kept/$name" -name 'seed-*' -delete
        echo "$name: $(find "$state/kept/$name" -type f | wc -l) of $(find "$state/corpus/$name" -type f | wc -l) inputs"
    done
    tar --sort=name --mtime=@0 --owner=0 --group=0 --numeric-owner -cJf tests/fuzz/corpus.tar.xz -C "$state/kept" .
}
[ -z "$keep" ] || { pack "$@"; exit; }

found=0
again=1
while [ $again = 1 ]; do
    again=0
    printf '%-18s %12s %10s %8s  %s\n' fuzzer executions 'per second' seconds findings
    for name in "$@"; do
        if [ "$wanted" != 0 ] && [ -n "$(findings_of "$name")" ]; then
            echo "$name waits: $(findings_of "$name")"
            found=1
        else
            rm -f "$state/findings/$name-"*
            run_fuzzer "$name" || found=1
            again=1
        fi
    done
    [ "$(executed)" -lt "$wanted" ] || again=0
done
[ "$wanted" = 0 ] || echo "$(executed) executions in all, of $wanted"
exit $found
