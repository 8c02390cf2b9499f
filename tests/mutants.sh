#!/bin/sh
# Do the tests notice small mistakes? Makes MUTANTS (300) of them in the product code, one at a time, runs the tests of the
# folder that each is in and prints those that no test notices: the suite of the file, those of any folder that include its
# header, those of its folder, then the program tests, since all that the folders below do is seen through commands.
#     tests/mutants.sh BUILD [FOLDER_OR_FILE ...]       BUILD: build/release, built
# From the environment: MUTANTS, SEED (1), JOBS, LIMIT_S of processor time of a suite (60), CC, MUTANT_CC and MUTANT_LIBS (how
# BUILD compiles and links), RESULTS (a file that gets all, each when it is known: the test that noticed, or nobody, argued, none;
# rank, file, line number, line), ONLY (ranks of such lines: these mutants alone, argued or not).
# SEED alone says which (tests/mutants/mutate.c); a mutant that does not compile, or compiles to the same code, does not count. A
# survivor that no test can notice stands in tests/mutants/equivalent.txt, "FILE<tab>LINE<tab>reason", LINE as it is printed; such
# a one counts, but is not tried again.
# Exit 1 if more than 5 % survive that are not argued there.
set -u
cd "$(dirname "$0")/.." || exit 2
LC_ALL=C
export LC_ALL SEED="${SEED:-1}" LIMIT_S="${LIMIT_S:-60}"
# The file with the mutant is watched as `make test` watches all: an item behind an array that is read is noticed.
SANITIZE="-fsanitize=address,undefined -fno-sanitize-recover=all -U_FORTIFY_SOURCE"
ASAN_OPTIONS=detect_leaks=1:detect_stack_use_after_return=1
UBSAN_OPTIONS=halt_on_error=1
export ASAN_OPTIONS UBSAN_OPTIONS

# Unit suites of folder $1, and those of other folders that include a header of it, but for base, which all do, as they are: what
# fails unchanged would notice everything. Cost is processor time.
measure() {
    mkdir "$work/unchanged"
    others=$([ "$1" = base ] || grep -l "#include \"$1/" tests/unit/test_*.c | sed 's,.*/test_,,; s,\.c$,,')
    # shellcheck disable=SC2086 # names
    if ! "$build/unit_tests" -l "$((10 * LIMIT_S))" -o "$work/unchanged" "$1_" $others >"$work/log" 2>&1; then
        grep -A 20 'failed: ' "$work/log" >&2
        echo "mutants: the suites of $1 fail without a mutant" >&2
        return 1
    fi
    awk -v top="$1" '/ passed, 0 failed / { print top, $1, $(NF - 1) }' "$work/log" >>"$work/suites"
    rm -r "$work/unchanged"
}

# The order of suites for a mutant of $file, as the runner takes it ("times", the largest first): the suite of the file, those
# that include its header (shape_ring.c: shape.h) or have its name in theirs, the rest of the folder; of each kind the cheap ones
# first.
order_suites() {
    header=${file%.c}.h
    [ -e "$header" ] || header=${header%%_*}.h
    name=$(basename "$file" .c)
    while read -r of suite cost_s; do
        [ "$of" = "$top" ] || continue
        case $suite in
        "${top}_$name") kind=1 ;;
        *"_$name"*) kind=2 ;;
        *) kind=3 && ! grep -qs "\"$header\"" "tests/unit/test_$suite.c" || kind=2 ;;
        esac
        case $kind$suite in 3"$top"_*) ;; 3*) continue ;; esac
        echo "$kind $cost_s $suite"
    done <"$work/suites" | sort -k1,1n -k2,2n | awk '{ print $3, 100000 - NR }'
}

# The unit suite that fails; nothing: none does. A mutant that runs for ever is ended by its processor time, so that a busy
# machine notices no more than an idle one.
suite_that_notices() {
    order_suites >"$me/times"
    (
        # shellcheck disable=SC3045 # every shell on Linux has it
        ulimit -t "$LIMIT_S"
        # shellcheck disable=SC2046 # names
        exec "$me/unit_tests" -x -l "$((10 * LIMIT_S))" -o "$me" $(cut -d ' ' -f1 "$me/times")
    ) >"$me/log" 2>&1 || sed -n 's/^FAILED: //p' "$me/log" | grep . || echo "$top"
}

# Program tests as they are, and what they cost.
measure_programs() {
    for script in tests/cli/*.sh; do
        case $script in */run.sh | */readme.sh) continue ;; esac
        start_ms=$(date +%s%3N)
        if ! tests/cli/run.sh "$build/weft" "$script" >"$work/log" 2>&1; then
            cat "$work/log" >&2
            echo "mutants: $script fails without a mutant" >&2
            return 1
        fi
        echo "$script $(($(date +%s%3N) - start_ms))" >>"$work/programs"
    done
}

# The program test that fails: the one named after the file or its folder (cli/cmd_sim.c: sim.sh) is tried first, then the others
# by what they cost. One that takes 20 s and 20 times as long as it should is taken to run for ever.
programs_notice() {
    words=$(echo "/${file%.c}/" | sed 's,/cmd_,/,; s,/fig_,/plot/,; s,plots/,plot/,')
    while read -r script cost_ms; do
        name=$(basename "$script" .sh)
        case $words in
        */"$name"/) kind=1 ;;
        */"$name"/*) kind=2 ;;
        *) kind=3 ;;
        esac
        echo "$kind $cost_ms $script"
    done <"$work/programs" | sort -k1,1n -k2,2n >"$me/programs"
    while read -r _ cost_ms script; do
        timeout "$((20 + cost_ms / 50))" tests/cli/run.sh "$me/weft" "$script" </dev/null >"$me/log" 2>&1 ||
            { echo "$script" && return; }
    done <"$me/programs"
    return 1
}

# Which test notices the mutant in $me/mutant.o; nothing: it is none.
judge() {
    top=${file%%/*}
    arena=$work/arena.o
    [ "$file" != base/arena.c ] || arena=
    # An archive is not asked for what an object before it has.
    # shellcheck disable=SC2086 # words
    if [ "$top" != cli ]; then
        $CC $SANITIZE -fopenmp -o "$me/unit_tests" "$build"/tests/*.o "$build"/tests/unit/*.o "$me/mutant.o" $arena \
            "$build/objects.a" -lcmocka $MUTANT_LIBS 2>"$me/log" || return
        suite_that_notices | grep . && return
    fi
    # shellcheck disable=SC2086,SC2046 # words
    $CC $SANITIZE -fopenmp -o "$me/weft" $(find "$build/cli" -name '*.o' ! -path "$build/${file%.c}.o") "$me/mutant.o" $arena \
        "$build/objects.a" $MUTANT_LIBS 2>"$me/log" || return
    programs_notice || echo nobody
}

# say WHAT: a line in $results.
say() {
    printf '%s\t%s\n' "$1" "$(grep -m 1 "^$rank" "$work/list")" >>"$results"
}

is_argued() {
    grep -m 1 "^$rank" "$work/list" | awk -F'\t' -v argued=tests/mutants/equivalent.txt '
        BEGIN { while ((getline line < argued) > 0) { n = split(line, f, "\t"); if (n >= 3) reason[f[1] "\t" f[2]] = 1 } }
        { exit !(($2 "\t" $4) in reason) }'
}

# One mutant is compiled: $me/mutant.o if it is one that is to be tried.
if [ "$1" = --make ]; then
    build=$2 work=$3 rank=$4 file=$5
    me=$work/$rank
    mkdir -p "$me"
    # Read from standard input the two differ in nothing but the change; a wrong kind of pointer is what compilers notice (with -w
    # they would not).
    same=$work/$(echo "$file" | tr / .).o
    # shellcheck disable=SC2086 # words
    [ -e "$same" ] || { $MUTANT_CC -g0 -w -x c -c -o "$me/same.o" - <"$file" && mv "$me/same.o" "$same"; }
    # shellcheck disable=SC2086 # words
    if "$work/mutate" apply "$SEED" "$file" "$rank" |
        $MUTANT_CC -g0 -Werror=incompatible-pointer-types -Werror=int-conversion -x c -c -o "$me/plain.o" - 2>"$me/log" &&
        ! cmp -s "$me/plain.o" "$same"; then
        if [ -z "${ONLY-}" ] && is_argued; then
            say argued
        else
            # shellcheck disable=SC2086 # words
            "$work/mutate" apply "$SEED" "$file" "$rank" | $MUTANT_CC $SANITIZE -g0 -w -x c -c -o "$me/mutant.o" -
            echo "$rank $file" >>"$work/made"
            exit
        fi
    else
        say none
    fi
    rm -r "$me"
    exit
fi

# One that was made is judged.
if [ "$1" = --judge ]; then
    build=$2 work=$3 rank=$4 file=$5
    me=$work/$rank
    mkdir -p "$me/tmp" && TMPDIR=$me/tmp && export TMPDIR
    noticed=$(judge)
    say "${noticed:-none}"
    rm -rf "$me"
    exit
fi

build=$1
shift
[ $# -gt 0 ] || set -- base topo workloads alloc sim study kinds plots cli
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM HUP
$CC -std=c11 -O1 -o "$work/mutate" tests/mutants/mutate.c || exit 2
# shellcheck disable=SC2086 # words
$MUTANT_CC $SANITIZE -g0 -w -c -o "$work/arena.o" base/arena.c || exit 2
# Ranks of MPI run in processes that tests/mpi.sh starts, not here.
# shellcheck disable=SC2046 # paths have no spaces
"$work/mutate" list "$SEED" $(find "$@" -name '*.c' ! -name 'fleet_mpi*' ! -name mpi.c ! -name fleet_alone.c | sort) |
    sort -u -k1,1 >"$work/all" || exit 2
if [ -n "${ONLY-}" ]; then
    echo "$ONLY" | tr -s ' ' '\n' >"$work/only"
    grep -F -f "$work/only" "$work/all" >"$work/list" || { echo "mutants: no such ranks: $ONLY" >&2 && exit 2; }
else
    mv "$work/all" "$work/list"
fi
results=${RESULTS:-$work/results}
export results
: >"$results" || exit 2
: >"$work/suites"
for top in base topo workloads alloc sim study kinds plots; do
    ! cut -f2 "$work/list" | grep -q "^$top/" || measure "$top" || exit 2
done

: >"$work/programs"
measure_programs || exit 2

# A few are no mutants: more are made until there are enough.
tried=0
real=0
: >"$work/made"
while [ "$real" -lt "${MUTANTS:-300}" ] && [ "$tried" -lt "$(wc -l <"$work/list")" ]; do
    more=$((${MUTANTS:-300} - real))
    [ "$more" -lt 30 ] || more=30
    sed -n "$((tried + 1)),$((tried + more))p" "$work/list" | cut -f1,2 |
        xargs -P "${JOBS:-1}" -L 1 tests/mutants.sh --make "$build" "$work"
    tried=$((tried + more))
    real=$(($(wc -l <"$work/made") + $(grep -c '^argued' "$results")))
done
echo "$real mutants, $(grep -c '^argued' "$results") of them argued equivalent" >&2
sort "$work/made" | xargs -P "${JOBS:-1}" -L 1 tests/mutants.sh --judge "$build" "$work"

sort -k2,2 "$results" | awk -F'\t' '
    $1 == "none" { none++; next }
    { all++ }
    $1 == "argued" { same++; next }
    {
        split($3, part, "/")
        own = $3
        sub(/^.*\//, "", own)
        sub(/\.c$/, "", own)
        by[$1 == "nobody" ? "" : $1 ~ /\// ? "program" : $1 == part[1] "_" own ? "suite" : "folder"]++
    }
    $1 == "nobody" { print $3 ":" $4 "\t" $5; left++ }
    END {
        printf "%d mutants (%d more were none): %d noticed by the suite of their file, %d by their folder, %d by a program test; ", \
            all, none, by["suite"], by["folder"], by["program"]
        printf "%d not noticed, %d argued equivalent\n", left, same
        exit !(left <= 0.05 * all)
    }'
