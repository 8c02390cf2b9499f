#!/bin/sh
# Do the tests notice small mistakes? Makes MUTANTS (60) of them in the product code of every folder, one at a time, and prints
# those that no test notices. Each is judged by the suite of its file, the suites of any folder that include its header, the
# suites of its folder, and then the program tests, since commands show everything that the folders below do.
#     tests/mutants.sh BUILD [FOLDER_OR_FILE ...]       BUILD: build/release, built
# From the environment: MUTANTS, SEED, JOBS, LIMIT_S of processor time of a suite (60), CC, MUTANT_CC and MUTANT_LIBS (how
# BUILD compiles and links), RESULTS (a file that gets all, each when it is known: the test that noticed, or nobody, argued, none;
# rank, file, line number, line), ONLY (ranks of such lines: these mutants alone, argued or not).
# SEED alone says which mutants are made (tests/mutants/mutate.c). Unless given it is taken from the current commit, so that each
# commit meets mutants that nobody has written tests for; it is printed, to repeat the run. The folders take turns, so that a run
# which is cut short has as many of each. A mutant that does not compile, or compiles to the same code, does not count. A survivor
# that no test can notice stands in tests/mutants/equivalent.txt, "FILE<tab>LINE<tab>reason", LINE as it is printed; it counts,
# but is not tried again.
# Exit 1 if more than 8 % survive that are not argued there.
set -u
cd "$(dirname "$0")/.." || exit 2
LC_ALL=C
SEED=${SEED:-$((0x$(git rev-parse --short=8 HEAD 2>/dev/null || date +%s)))}
export LC_ALL SEED LIMIT_S="${LIMIT_S:-60}"
# The file with the mutant is watched as `make test` watches all: an item behind an array that is read is noticed.
SANITIZE="-fsanitize=address,undefined -fno-sanitize-recover=all -U_FORTIFY_SOURCE"
ASAN_OPTIONS=detect_leaks=1:detect_stack_use_after_return=1
UBSAN_OPTIONS=halt_on_error=1
export ASAN_OPTIONS UBSAN_OPTIONS

# Unit suites of the folders given, and those of other folders that include a header of theirs; base is included by all.
suites_of() {
    for folder in "$@"; do
        ls tests/unit/test_"$folder"_*.c
        [ "$folder" = base ] || grep -l "#include \"$folder/" tests/unit/test_*.c
    done | sed 's,.*/test_,,; s,\.c$,,' | sort -u
}

# What these suites cost in processor time, as they are: what fails unchanged would notice everything.
measure_suites() {
    [ $# -gt 0 ] || return 0
    mkdir "$work/unchanged"
    if ! "$build/unit_tests" -l "$((10 * LIMIT_S))" -o "$work/unchanged" "$@" >"$work/log" 2>&1; then
        grep -A 20 'failed: ' "$work/log" >&2
        echo "mutants: suites fail without a mutant" >&2
        return 1
    fi
    awk '/ passed, 0 failed / { print $1, $(NF - 1) }' "$work/log" | sort >"$work/suites"
}

# The order of suites for a mutant of $file, as the runner takes it ("times", the largest first): the suite of the file, those
# that include its header (shape_ring.c: shape.h) or have its name in theirs, the rest of the folder; of each kind the cheap ones
# first.
order_suites() {
    header=${file%.c}.h
    [ -e "$header" ] || header=${header%%_*}.h
    name=$(basename "$file" .c)
    suites_of "$top" | join - "$work/suites" | while read -r suite cost_s; do
        case $suite in
        "${top}_$name") kind=1 ;;
        *"_$name"*) kind=2 ;;
        *) kind=3 && ! grep -qs "\"$header\"" "tests/unit/test_$suite.c" || kind=2 ;;
        esac
        case $kind$suite in 3"$top"_*) ;; 3*) continue ;; esac
        echo "$kind $cost_s $suite"
    done | sort -k1,1n -k2,2n | awk '{ print $3, 100000 - NR }'
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
        [ "$script" != tests/cli/run.sh ] || continue
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

# The objects of these sources; a build keeps those of files that are gone as well.
objects_of() { echo "$@" | tr ' ' '\n' | sed "s,^,$build/,; s,c$,o,"; }

# Which test notices the mutant in $me/mutant.o; nothing: it is none.
judge() {
    top=${file%%/*}
    arena=$work/arena.o
    [ "$file" != base/arena.c ] || arena=
    # An archive is not asked for what an object before it has.
    # shellcheck disable=SC2086,SC2046 # words
    if [ "$top" != cli ]; then
        $CC $SANITIZE -fopenmp -o "$me/unit_tests" $(objects_of tests/*.c tests/unit/*.c) "$me/mutant.o" $arena \
            "$build/objects.a" -lcmocka $MUTANT_LIBS 2>"$me/log" || return
        suite_that_notices | grep . && return
    fi
    # shellcheck disable=SC2086,SC2046 # words
    $CC $SANITIZE -fopenmp -o "$me/weft" $(objects_of $(find cli -name '*.c' ! -path "$file")) "$me/mutant.o" $arena \
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

# One mutant is made and judged.
if [ "$1" = --try ]; then
    build=$2 work=$3 rank=$4 file=$5
    me=$work/$rank
    mkdir -p "$me/tmp" && TMPDIR=$me/tmp && export TMPDIR
    # Read from standard input the two differ in nothing but the change; a wrong kind of pointer is what compilers notice (with -w
    # they would not).
    same=$work/$(echo "$file" | tr / .).o
    # shellcheck disable=SC2086 # words
    [ -e "$same" ] || { $MUTANT_CC -g0 -w -x c -c -o "$me/same.o" - <"$file" && mv "$me/same.o" "$same"; }
    "$work/mutate" apply "$SEED" "$file" "$rank" >"$me/mutant.c"
    # shellcheck disable=SC2086 # words
    if ! $MUTANT_CC -g0 -Werror=incompatible-pointer-types -Werror=int-conversion -x c -c -o "$me/plain.o" - <"$me/mutant.c" \
        2>"$me/log" || cmp -s "$me/plain.o" "$same"; then
        say none
    elif [ -z "${ONLY-}" ] && is_argued; then
        say argued
    else
        # shellcheck disable=SC2086 # words
        $MUTANT_CC $SANITIZE -g0 -w -x c -c -o "$me/mutant.o" - <"$me/mutant.c"
        noticed=$(judge)
        say "${noticed:-none}"
    fi
    rm -rf "$me"
    exit
fi

# What lived, and a line for each folder; were there too many?
summarize() {
    sort -t "$(printf '\t')" -k3,3 -k4,4n "$results" | awk -F'\t' '
        $1 == "none" { next }
        {
            split($3, part, "/")
            if (!made[part[1]]++) folders[++n] = part[1]
            made["all"]++
            what = $1 == "argued" || $1 == "nobody" ? $1 : "noticed"
            count[part[1], what]++
            count["all", what]++
        }
        $1 == "nobody" { print $3 ":" $4 "\t" $5 }
        END {
            folders[++n] = "all"
            for (i = 1; i <= n; i++)
                printf "%s: %d mutants, %d noticed, %d argued equivalent, %d live\n", folders[i], made[folders[i]],
                    count[folders[i], "noticed"], count[folders[i], "argued"], count[folders[i], "nobody"]
            exit !(count["all", "nobody"] <= 0.08 * made["all"])
        }'
}

build=$1
shift
[ $# -gt 0 ] || set -- base topo workloads alloc sim study kinds plots cli
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'summarize; exit 130' INT TERM HUP
results=${RESULTS:-$work/results}
export results
: >"$results" || exit 2
echo "SEED=$SEED"
$CC -std=c11 -O1 -o "$work/mutate" tests/mutants/mutate.c || exit 2
# shellcheck disable=SC2086 # words
$MUTANT_CC $SANITIZE -g0 -w -c -o "$work/arena.o" base/arena.c || exit 2
# Ranks of MPI run in processes that tests/mpi.sh starts, not here.
# shellcheck disable=SC2046 # paths have no spaces
"$work/mutate" list "$SEED" $(find "$@" -name '*.c' ! -name 'fleet_mpi*' ! -name mpi.c ! -name fleet_alone.c | sort) |
    sort -u -k1,1 >"$work/list" || exit 2
if [ -n "${ONLY-}" ]; then
    echo "$ONLY" | tr -s ' ' '\n' >"$work/only"
    mv "$work/list" "$work/all"
    grep -F -f "$work/only" "$work/all" >"$work/list" || { echo "mutants: no such ranks: $ONLY" >&2 && exit 2; }
fi
# shellcheck disable=SC2046 # names
measure_suites $(suites_of $(cut -f2 "$work/list" | sed 's,/.*,,; /^cli$/d' | sort -u)) || exit 2
: >"$work/programs"
measure_programs || exit 2

# In turns, up to three of each folder that has not enough; those that are no mutants do not count.
while
    awk -F'\t' -v want="${MUTANTS:-60}" -v results="$results" '
        BEGIN {
            while ((getline <results) > 0) {
                tried[$2] = 1
                split($3, part, "/")
                made[part[1]] += $1 != "none"
            }
        }
        { split($2, part, "/") }
        !($1 in tried) && taken[part[1]] < 3 && made[part[1]] + taken[part[1]] < want { taken[part[1]]++; print $1, $2 }' \
        "$work/list" >"$work/turn"
    [ -s "$work/turn" ]
do
    xargs -P "${JOBS:-1}" -L 1 tests/mutants.sh --try "$build" "$work" <"$work/turn"
done
summarize
