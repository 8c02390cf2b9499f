#!/bin/sh
# Do the tests notice small mistakes? Makes MUTANTS (60) of them in the product code of every folder, one at a time, and prints
# those that no test notices. Each is judged by the suite of its file, the suites of any folder that include its header, the
# suites of its folder, and the program tests, since commands show everything that the folders below do; in what order, and how long
# each may take, is learned from the last `make test` of BUILD.
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

# What a test took when `make test` ran last, in seconds; 20 of one that did not run.
seconds_of() { awk -v name="$1" '$1 == name { s = $2 } END { print s == "" ? 20 : s }' "$work/times"; }

# All judges of a mutant of $file, "SECONDS NAME", the likely and cheap ones first. Unit suites: that of the file; those that include
# its header (shape_ring.c: shape.h) or have its name in theirs; the rest of the folder; those that take seconds. Program tests: that
# of the file or its folder (cli/cmd_sim.c: sim.sh); digits.sh, which sees most; the others.
order_judges() {
    header=${file%.c}.h
    [ -e "$header" ] || header=${header%%_*}.h
    name=$(basename "$file" .c)
    words=$(echo "/${file%.c}/" | sed 's,/cmd_,/,; s,/fig_,/plot/,; s,plots/,plot/,')
    {
        [ "$top" = cli ] || suites_of "$top" | while read -r suite; do
            kind=3
            grep -qs "\"$header\"" "tests/unit/test_$suite.c" && kind=2
            case $suite in
            "${top}_$name") kind=1 ;;
            *"_$name"*) kind=2 ;;
            esac
            case $kind$suite in 3"$top"_*) ;; 3*) continue ;; esac
            seconds=$(seconds_of "$suite")
            case $kind$seconds in 1* | [23][01].*) ;; *) kind=4 ;; esac
            echo "$kind $seconds $suite"
        done
        for script in tests/cli/*.sh; do
            script=$(basename "$script" .sh)
            kind=5
            case $words in
            */"$script"/) kind=1 ;;
            */"$script"/*) kind=2 ;;
            esac
            case $script in
            run) continue ;;
            digits) kind=3 ;;
            esac
            echo "$kind $(seconds_of "cli_$script") cli_$script"
        done
    } | sort -k1,1n -k2,2n | cut -d ' ' -f2-
}

# runs FOLDER JUDGE SECONDS: does this judge pass with the programs in FOLDER? A mutant that runs for ever is ended by its processor
# time, so that a busy machine notices no more than an idle one; many of one program test by what the clock says.
runs() {
    # shellcheck disable=SC3045 # every shell on Linux has it
    ulimit -t "$LIMIT_S"
    case $2 in
    cli_*) exec timeout "$((300 + 20 * ${3%.*}))" tests/cli/run.sh "$1/weft" "tests/cli/${2#cli_}.sh" </dev/null ;;
    *) exec "$1/unit_tests" -x -l "$((10 * LIMIT_S))" -o "$me" "$2" ;;
    esac
}

# The judge that notices; nobody. What fails unchanged would notice everything: that ends the run.
judge_that_notices() {
    order_judges >"$me/judges"
    while read -r seconds judge; do
        case $judge in
        cli_*) [ -e "$me/weft" ] || link_weft ;;
        *) [ -e "$me/unit_tests" ] || link_unit_tests ;;
        esac 2>"$me/log" || { cat "$me/log" >>"$work/unsound" && return; }
        (runs "$me" "$judge" "$seconds") </dev/null >"$me/log" 2>&1 && continue
        if [ ! -e "$work/sound.$judge" ] && ! (runs "$build" "$judge" 600) </dev/null >"$me/log" 2>&1; then
            { echo "$judge:" && cat "$me/log"; } >>"$work/unsound"
            return
        fi
        : >"$work/sound.$judge"
        echo "$judge"
        return
    done <"$me/judges"
    echo nobody
}

# The objects of these sources; a build keeps those of files that are gone as well.
objects_of() { echo "$@" | tr ' ' '\n' | sed "s,^,$build/,; s,c$,o,"; }

# The programs with the mutant in $me/mutant.o. An archive is not asked for what an object before it has.
link_unit_tests() {
    arena=$work/arena.o
    [ "$file" != base/arena.c ] || arena=
    # shellcheck disable=SC2086,SC2046 # words
    $CC $SANITIZE -fopenmp -o "$me/unit_tests" $(objects_of tests/*.c tests/unit/*.c) "$me/mutant.o" $arena "$build/objects.a" \
        -lcmocka $MUTANT_LIBS
}
link_weft() {
    arena=$work/arena.o
    [ "$file" != base/arena.c ] || arena=
    # shellcheck disable=SC2086,SC2046 # words
    $CC $SANITIZE -fopenmp -o "$me/weft" $(objects_of $(find cli -name '*.c' ! -path "$file")) "$build"/gen/page_files.o \
        "$me/mutant.o" $arena "$build/objects.a" $MUTANT_LIBS
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
    [ ! -e "$work/unsound" ] || exit 255
    top=${file%%/*}
    me=$work/build/$rank
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
        noticed=$(judge_that_notices)
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
# A program finds the files that come with it beside its build folder.
mkdir "$work/build" && ln -s "$PWD/configs" "$work/configs" || exit 2
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
cp "$build/results/times" "$work/times" 2>/dev/null || : >"$work/times"

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
    xargs -P "${JOBS:-1}" -L 1 tests/mutants.sh --try "$build" "$work" <"$work/turn" || break
done
if [ -e "$work/unsound" ]; then
    echo "mutants: does not link, or fails without a mutant: $(cat "$work/unsound")" >&2
    exit 2
fi
summarize
