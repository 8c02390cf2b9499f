#!/bin/sh
# Do the tests notice small mistakes? Makes MUTANTS (60) of them in the product code of every folder, one at a time, and prints
# those that no test notices. First every test (unit suites and program tests) runs once with the lines counted that it executes,
# and its processor time taken. A mutant is then judged by the tests that execute its line, the likely and cheap ones first; one
# that nothing notices is judged once more under sanitizers, by the first twenty that take less than two seconds.
#     tests/mutants.sh BUILD [FOLDER_OR_FILE ...]       BUILD: build/release, built
# From the environment: MUTANTS, SEED, JOBS, BUDGET_S (processor time that the tests asked about one mutant may take together;
# others are left out), CC, MUTANT_CC and MUTANT_LIBS (how BUILD compiles and links), RESULTS (a file that gets all, each when it
# is known: the test that noticed, or nobody, argued, none; rank, file, line number, line), ONLY (ranks of such lines: these
# mutants alone, argued or not). BUILD-reach keeps what each test executes until a source changes that it executes, its own or a header.
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
export LC_ALL SEED
# The file with the mutant is watched as `make test` watches all: an item behind an array that is read is noticed.
SANITIZE="-fsanitize=address,undefined -fno-sanitize-recover=all -U_FORTIFY_SOURCE"
ASAN_OPTIONS=detect_leaks=1:detect_stack_use_after_return=1
UBSAN_OPTIONS=halt_on_error=1
export ASAN_OPTIONS UBSAN_OPTIONS

# Every test: unit suites, and program tests as cli_NAME.
list_judges() {
    printf "%s\n" tests/unit/test_*.c tests/cli/*.sh | sed 's,tests/unit/test_,,; s,tests/cli/,cli_,; s,\.[a-z]*$,,' | grep -v '^cli_run$'
}

# Line $line of $file, as gcov knows it: a line that has no code of its own belongs to the lines around it.
lines_around() {
    awk -v line="$line" -F: -v file="$file" '
        $1 != file { next }
        $2 <= line && $2 + 0 > before { before = $2 }
        $2 >= line && (!after || $2 + 0 < after) { after = $2 }
        END { print file ":" before ":"; print file ":" after ":" }' "$reach/code"
}

# The tests that execute the line of a mutant, "SECONDS NAME": that of the file; those that include its header (shape_ring.c:
# shape.h) or have its name in theirs; those of the folder; the others; digits.sh, which sees most of what commands print; the
# slow ones. A program test of the file or its folder (cli/cmd_sim.c: sim.sh) is as good as a suite.
order_judges() {
    header=${file%.c}.h
    [ -e "$header" ] || header=${header%%_*}.h
    name=$(basename "$file" .c)
    words=$(echo "/${file%.c}/" | sed 's,/cmd_,/,; s,/fig_,/plot/,; s,plots/,plot/,')
    lines_around >"$me/lines"
    (cd "$reach/lines" && grep -l -x -F -f "$me/lines" -- *) | while read -r judge; do
        kind=4
        case $judge in
        cli_digits) kind=5 ;;
        cli_*) case $words in */"${judge#cli_}"/) kind=1 ;; */"${judge#cli_}"/*) kind=2 ;; esac ;;
        "${top}_$name") kind=1 ;;
        *"_$name"*) kind=2 ;;
        *) if grep -qs "\"$header\"" "tests/unit/test_$judge.c"; then kind=2; else case $judge in "$top"_*) kind=3 ;; esac; fi ;;
        esac
        read -r seconds _ <"$reach/seconds/$judge"
        case $kind$seconds in [12]* | [345][0-3].* | 5*cli_digits) ;; *) kind=6 ;; esac
        echo "$kind $seconds $judge"
    done | sort -k1,1n -k2,2n | awk -v most="${BUDGET_S:-1e9}" 'sum + $2 <= most { sum += $2; print $2, $3 }'
}

# runs FOLDER JUDGE SECONDS: does this judge pass with the programs in FOLDER? A mutant that runs for ever is ended by its processor
# time, so that a busy machine notices no more than an idle one; many of one program test by what the clock says.
runs() {
    # shellcheck disable=SC3045 # every shell on Linux has it
    ulimit -t "$((10 + 5 * ${3%.*}))"
    unset SEED # which some tests draw by
    case $2 in
    cli_*) exec timeout "$((300 + 20 * ${3%.*}))" tests/cli/run.sh "$1/weft" "tests/cli/${2#cli_}.sh" </dev/null ;;
    *) exec "$1/unit_tests" -x -l "$((300 + 100 * ${3%.*}))" -o "$me" "$2:" ;;
    esac
}

# judge_that_notices [OPTION ...]: the first of $me/judges that does not pass with the mutant, which is linked with these options;
# nobody. What fails unchanged would notice everything: that ends the run.
judge_that_notices() {
    rm -f "$me/weft" "$me/unit_tests"
    while read -r seconds judge; do
        case $judge in
        cli_*) [ -e "$me/weft" ] || link_weft "$me" "$@" "$me/mutant.o" ;;
        *) [ -e "$me/unit_tests" ] || link_unit_tests "$me" "$@" "$me/mutant.o" ;;
        esac 2>"$me/log" || { cat "$me/log" >>"$work/unsound" && return; }
        (runs "$me" "$judge" "$seconds") </dev/null >"$me/log" 2>&1 && continue
        if ! grep -qs passes "$work/sound.$judge" "$reach/seconds/$judge" && ! (runs "$build" "$judge" 600) </dev/null >"$me/log" 2>&1; then
            { echo "$judge:" && cat "$me/log"; } >>"$work/unsound"
            return
        fi
        echo passes >"$work/sound.$judge"
        echo "$judge"
        return
    done <"$me/judges"
    echo nobody
}

# The objects of these sources; a build keeps those of files that are gone as well.
objects_of() { echo "$@" | tr ' ' '\n' | sed "s,^,$build/,; s,c$,o,"; }

# What may be changed here. Ranks of MPI run in processes that tests/mpi.sh starts, and what needs its headers is left alone.
sources_of() {
    find "$@" -name '*.c' ! -name 'fleet_mpi*' ! -name mpi.c ! -name fleet_alone.c ! -path cli/version.c | sort
}

# link_unit_tests FOLDER WORD ...: with these objects and options. An archive is not asked for what an object before it has.
link_unit_tests() {
    to=$1
    shift
    # shellcheck disable=SC2086,SC2046 # words
    $CC -fopenmp -o "$to/unit_tests" $(objects_of tests/*.c tests/unit/*.c) "$@" "$build/objects.a" -lcmocka $MUTANT_LIBS
}
link_weft() {
    to=$1
    shift
    # shellcheck disable=SC2086,SC2046 # words
    $CC -fopenmp -o "$to/weft" $(objects_of cli/version.c $(sources_of cli | grep -v -x -e "${file-}" $not_cli)) \
        "$build"/gen/page_files.o "$@" "$build/objects.a" $MUTANT_LIBS
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

# Which lines a test executes, and how long it takes.
if [ "$1" = --reach ]; then
    build=$2 work=$3 judge=$4 reach=$2-reach
    me=$work/build/reach.$judge
    mkdir -p "$me/tmp" && ln -s "$PWD/$reach"/objects/*.gcno "$me" && TMPDIR=$me/tmp && export TMPDIR
    GCOV_PREFIX=$me GCOV_PREFIX_STRIP=99
    export GCOV_PREFIX GCOV_PREFIX_STRIP
    passes=
    (runs "$reach" "$judge" 600) </dev/null >"$me/log" 2>&1 && passes=" passes"
    times >"$me/times"
    awk -F'[ms ]+' -v passes="$passes" 'END { printf "%.1f%s\n", 60 * $1 + $2 + 60 * $3 + $4, passes }' "$me/times" >"$me/seconds"
    # A file of which nothing ran has the counters that a program leaves which does nothing.
    for counters in "$me"/*.gcda; do
        cmp -s "$counters" "$reach/idle/$(basename "$counters")" || echo "$counters"
    done | xargs -r gcov -t 2>"$me/log" | awk -f tests/mutants/reach.awk >"$me/lines"
    mv "$me/lines" "$reach/lines/$judge" && mv "$me/seconds" "$reach/seconds/$judge"
    rm -rf "$me"
    exit
fi

# One mutant is made and judged.
if [ "$1" = --try ]; then
    build=$2 work=$3 rank=$4 file=$5 line=$6 reach=$2-reach not_cli=
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
    if ! $MUTANT_CC -g0 -Werror=incompatible-pointer-types -Werror=int-conversion -x c -c -o "$me/mutant.o" - <"$me/mutant.c" \
        2>"$me/log" || cmp -s "$me/mutant.o" "$same"; then
        say none
    elif [ -z "${ONLY-}" ] && is_argued; then
        say argued
    else
        order_judges >"$me/judges"
        noticed=$(judge_that_notices)
        if [ "$noticed" = nobody ]; then
            awk '$1 < 2' "$me/judges" | head -n 20 >"$me/quick" && mv "$me/quick" "$me/judges"
            arena=$work/arena.o
            [ "$file" != base/arena.c ] || arena=
            # shellcheck disable=SC2086 # words
            $MUTANT_CC $SANITIZE -g0 -w -x c -c -o "$me/mutant.o" - <"$me/mutant.c"
            # shellcheck disable=SC2086 # words
            noticed=$(judge_that_notices $SANITIZE $arena)
        fi
        say "${noticed:-none}"
    fi
    rm -rf "$me"
    exit
fi

# A child that ends with _exit() leaves its counters, too.
link_reach() {
    echo 'void __gcov_dump(void); void __real__exit(int); void __wrap__exit(int i) { __gcov_dump(); __real__exit(i); }' |
        $CC -x c -c -o "$work/exit.o" - || exit 2
    set -- --coverage -Wl,--wrap=_exit "$work/exit.o"
    [ ! -e "$reach/objects/cli.main.o" ] || not_cli='-e cli/.\+' # no pattern of the shell's
    link_unit_tests "$reach" "$@" "$reach"/objects/[!c]*.o && link_weft "$reach" "$@" "$reach"/objects/*.o || exit 2
    not_cli=
}

# Counts the lines of these sources, with flat names, so that the counters of each test find place in one folder.
count_lines() {
    # shellcheck disable=SC2016 # the inner shell's
    echo "$@" | tr ' ' '\n' | xargs -P "${JOBS:-1}" -I FILE sh -c \
        '$MUTANT_CC -g0 -w -O1 --coverage -c -o "$1/$(echo "$2" | tr / . | sed "s/c$/o/")" "$2"' - "$reach/objects" FILE
    link_reach
    rm -f "$reach"/idle/*
    GCOV_PREFIX=$PWD/$reach/idle GCOV_PREFIX_STRIP=99 "$reach/unit_tests" --list >"$work/log"
    cp "$reach"/objects/*.gcno "$reach/idle"
    # By the notes of the compiler: what the unit tests do not link has no counters here.
    gcov -t "$reach"/idle/*.gcno 2>"$work/log" | awk -v all=1 -f tests/mutants/reach.awk >"$reach/code"
    # A test that executes nothing of them executes what it did.
    echo "$@" | tr ' ' '\n' | sed 's,$,:,' >"$work/counted"
    (cd "$reach/lines" && grep -l -F -f "$work/counted" -- * | xargs -r rm)
}

# Fills $reach for these folders and those that it has, where it is not up to date. A header may be part of anything.
learn_reach() {
    mkdir -p "$reach/objects" "$reach/lines" "$reach/seconds" "$reach/idle" || exit 2
    touch -a "$reach/sources"
    folders=$(echo "$@" | tr ' ' '\n' | sort -u - "$reach/sources" | sed 's,/.*,,' | sort -u)
    # shellcheck disable=SC2086 # words
    sources_of $folders >"$work/sources"
    # shellcheck disable=SC2086 # words
    if cmp -s "$work/sources" "$reach/sources" && [ -z "$(find $folders -name '*.h' -newer "$reach/sources")" ]; then
        changed=$(xargs -I FILE find FILE -newer "$reach/sources" <"$work/sources")
    else
        rm -f "$reach"/*/*
        changed=$(cat "$work/sources")
    fi
    # shellcheck disable=SC2086 # words
    if [ -n "$changed" ]; then
        count_lines $changed
        mv "$work/sources" "$reach/sources"
    else
        link_reach
    fi
    list_judges | while read -r judge; do
        source=tests/unit/test_$judge.c
        [ -e "$source" ] || source=tests/cli/${judge#cli_}.sh
        [ -n "$(find "$reach/lines/$judge" -newer "$source" 2>/dev/null)" ] || echo "$judge"
    done | xargs -r -P "${JOBS:-1}" -L 1 tests/mutants.sh --reach "$build" "$work"
}

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

build=$1 reach=$1-reach
shift
[ $# -gt 0 ] || set -- base topo workloads alloc sim study kinds plots cli
work=$(mktemp -d) not_cli=
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
# shellcheck disable=SC2046 # paths have no spaces
"$work/mutate" list "$SEED" $(sources_of "$@") |
    sort -u -k1,1 >"$work/list" || exit 2
if [ -n "${ONLY-}" ]; then
    echo "$ONLY" | tr -s ' ' '\n' >"$work/only"
    mv "$work/list" "$work/all"
    grep -F -f "$work/only" "$work/all" >"$work/list" || { echo "mutants: no such ranks: $ONLY" >&2 && exit 2; }
fi
learn_reach "$@"

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
        !($1 in tried) && taken[part[1]] < 3 && made[part[1]] + taken[part[1]] < want { taken[part[1]]++; print $1, $2, $3 }' \
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
